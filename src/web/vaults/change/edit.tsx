/** The page to create or edit a text file. */
import type { VNode } from 'preact';
import type { Vault } from '../../../sync/vaults/vaults.ts';
import type { Newline } from '../../../text/text-content.ts';
import { Field, FormErrors, type Problem, TextArea } from '../../fields.tsx';
import type { MemberVisit } from '../../pages.ts';
import { Form, Given, SubmitButton } from '../../ui.tsx';
import { Crumbs } from '../crumbs.tsx';
import { editPath, filePath, folderPath, nameOf, newFilePath, parentOf, vaultPath } from '../paths.ts';
import { type Newer, NewerNotice } from './newer.tsx';

export interface EditPageProps {
  readonly visit: MemberVisit;
  readonly vault: Vault;
  /** For a new file: the initial value of the field. */
  readonly path: string;
  /** The hash of the edited version; empty for a new file. */
  readonly base: string;
  readonly text: string;
  readonly newline: Newline;
  readonly problem: Problem | undefined;
  /** The version that the text began with; undefined: not named in the address. */
  readonly seq?: number | undefined;
  /** What others did to the file since; undefined: nothing. */
  readonly newer?: Newer | undefined;
}

const FORM = 'edit';

export function EditPage({ visit, vault, path, base, text, newline, problem, seq, newer }: EditPageProps): VNode {
  const isNew = base === '';
  const page = isNew ? newFilePath(vault.id, parentOf(path)) : editPath(vault.id, path, seq);
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} path={parentOf(path)} />
        <h1 class="path">{isNew ? 'New file' : <Given>{`Edit ${nameOf(path)}`}</Given>}</h1>
      </div>
      {/* Always present, so that screen readers announce what appears in it. */}
      <div role="status">{newer === undefined ? null : <NewerNotice visit={visit} vault={vault} newer={newer} />}</div>
      <section class="panel" aria-label={isNew ? 'New file' : 'Edit'}>
        <Form csrf={visit.csrf} action={`${vaultPath(vault.id)}/save`} draft={page} class="stack whole">
          <FormErrors form={FORM} problem={problem} shown={['path', 'content']} />
          <input type="hidden" name="base" value={base} />
          <input type="hidden" name="newline" value={newline} />
          {isNew ? (
            <Field
              form={FORM}
              name="path"
              label="Path"
              hint="Folders are made as needed, e.g. notes/today.md"
              value={path}
              problem={problem}
            />
          ) : (
            <input type="hidden" name="path" value={path} />
          )}
          <TextArea
            form={FORM}
            name="content"
            label="Content"
            required={false}
            isPlain
            class="code"
            rows={24}
            value={text}
            problem={problem}
          />
          <div class="actions">
            <SubmitButton look="primary">Save</SubmitButton>
            <a class="button" href={isNew ? folderPath(vault.id, parentOf(path)) : filePath(vault.id, path)}>
              Cancel
            </a>
          </div>
        </Form>
      </section>
    </>
  );
}
