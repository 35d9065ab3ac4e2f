/** The pages to read one document and to write it. */
import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import { Field, FormErrors, OpenedVersion, type Problem, SavedElsewhere, TextArea } from '../fields.tsx';
import { OtherFields } from '../other-fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { Ago } from '../rendering/ago.tsx';
import type { ShownPart } from '../rendering/parts.ts';
import { PartsNav } from '../rendering/parts-nav.tsx';
import { Code, Prose, type RenderedHtml } from '../rendering/renderer.tsx';
import { By, bytesText, Confirm, Form, Given, ScrollingText } from '../ui.tsx';
import type { DocumentVersion, Kind, OpenDocument } from './kinds.ts';
import { documentPath, kindPath } from './list.tsx';

interface DocumentPageProps {
  readonly visit: MemberVisit;
  readonly kind: Kind;
  readonly document: OpenDocument;
  /** Undefined: it is shown as source, in parts. */
  readonly prose: RenderedHtml | undefined;
  readonly part: ShownPart;
  /** The part in numbered lines; undefined: rendering took too long. */
  readonly code: RenderedHtml | undefined;
}

export function DocumentPage({ visit, kind, document, prose, part, code }: DocumentPageProps): VNode {
  const { title, label, at, by, version, shown, content } = document;
  const path = `${documentPath(kind.id, document.id)}?${shown === version ? '' : `version=${shown}&`}`;
  const parts = <PartsNav shown={part} pathOf={(one) => `${path}part=${one}`} />;
  return (
    <>
      <div class="intro">
        <Crumbs kind={kind} group={kind.id === 'papers' ? undefined : label} />
        <h1>
          <Given>{title}</Given>
        </h1>
        <p class="lead">
          {kind.id === 'papers' ? `${label}, ` : ''}
          {shown === version ? `version ${version}, ` : `version ${shown} of ${version}, `}
          <Ago at={at} zone={visit.zone} />
          <By name={by} visit={visit} />
        </p>
      </div>
      <section class="panel" aria-label="Content">
        <Actions visit={visit} kind={kind} document={document} />
        {content === '' ? (
          <p class="meta">The document is empty.</p>
        ) : prose !== undefined ? (
          <Prose rendered={prose} />
        ) : (
          <>
            {parts}
            {code === undefined ? (
              <ScrollingText label="Content of the document">
                <code>{part.text}</code>
              </ScrollingText>
            ) : (
              <Code rendered={code} label="Content of the document" />
            )}
            {parts}
          </>
        )}
      </section>
      {document.versions.length < 2 ? null : <Versions visit={visit} kind={kind} document={document} />}
    </>
  );
}

type PartProps = Pick<DocumentPageProps, 'visit' | 'kind' | 'document'>;

function Actions({ visit, kind, document }: PartProps): VNode {
  const { id, version, shown, published } = document;
  const path = documentPath(kind.id, id);
  return (
    <div class="actions row">
      {shown === version ? (
        <a class="button small" href={`${path}/edit`}>
          Edit
        </a>
      ) : (
        <>
          <a class="button small" href={path}>
            Show the current version
          </a>
          <Form csrf={visit.csrf} action={`${path}/revert`}>
            <input type="hidden" name="version" value={shown} />
            <input type="hidden" name="expected" value={version} />
            <button class="button small" type="submit">
              Restore version {shown}
            </button>
          </Form>
        </>
      )}
      {published === undefined ? null : (
        <Form csrf={visit.csrf} action={`${path}/publish`}>
          <input type="hidden" name="published" value={String(!published)} />
          <button class="button small" type="submit">
            {published ? 'Make it a draft' : 'Publish'}
          </button>
        </Form>
      )}
      {kind.bin === undefined || shown !== version ? null : (
        <Confirm label="Delete…">
          <p>It goes to the trash, and is deleted permanently after {limits.binDays} days.</p>
          <Form csrf={visit.csrf} action={`${path}/delete`}>
            <button class="button danger" type="submit">
              Delete this {kind.one}
            </button>
          </Form>
        </Confirm>
      )}
    </div>
  );
}

function Versions({ visit, kind, document }: PartProps): VNode {
  return (
    <section class="panel" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ul class="rows">
        {document.versions.map((one) => (
          <Version key={one.version} visit={visit} kind={kind} document={document} one={one} />
        ))}
      </ul>
    </section>
  );
}

function Version({ visit, kind, document, one }: PartProps & { readonly one: DocumentVersion }): VNode {
  const { version, size_bytes: bytes, created_at: at, changed_by: by } = one;
  return (
    <li class="row" aria-current={version === document.shown ? 'true' : undefined}>
      <div class="row-main">
        <a href={documentPath(kind.id, document.id, version)}>version {version}</a>{' '}
        {version === document.version ? <span class="badge good">current</span> : null}
        <p class="meta">
          {bytesText(bytes)} · <Ago at={at} zone={visit.zone} />
          <By name={by} visit={visit} />
        </p>
      </div>
    </li>
  );
}

function Crumbs({ kind, group }: { readonly kind: Kind; readonly group: string | undefined }): VNode {
  return (
    <nav class="crumbs" aria-label="You are here">
      <a href={kindPath(kind.id)}>{kind.name}</a>
      {group === undefined ? null : (
        <>
          <span aria-hidden="true">/</span>
          <a href={`${kindPath(kind.id)}?${new URLSearchParams({ group })}`}>
            <Given>{group}</Given>
          </a>
        </>
      )}
    </nav>
  );
}

interface WritePageProps {
  readonly visit: MemberVisit;
  readonly kind: Kind;
  /** Undefined for a new one. */
  readonly document: OpenDocument | undefined;
  readonly problem: Problem | undefined;
}

const FORM = 'document';

/** The form of a new document or of an existing one. */
export function WritePage({ visit, kind, document, problem }: WritePageProps): VNode {
  const isNew = document === undefined;
  const action = isNew ? `${kindPath(kind.id)}/new` : `${documentPath(kind.id, document.id)}/edit`;
  const isNamed = isNew || kind.id === 'papers';
  const shown = [
    ...(isNamed ? ['title'] : []),
    ...(isNew ? ['group'] : []),
    'content',
    ...kind.inputs.map(({ name }) => name),
  ];
  return (
    <>
      <div class="intro">
        <Crumbs kind={kind} group={undefined} />
        <h1>{isNew ? `New ${kind.one}` : <Given>{`Edit ${document.title}`}</Given>}</h1>
      </div>
      <section class="panel" aria-label={isNew ? 'New' : 'Edit'}>
        <Form csrf={visit.csrf} action={action} draft={action} class="stack whole">
          <FormErrors form={FORM} problem={problem} shown={shown} />
          {isNew ? null : <OpenedVersion problem={problem} current={document.version} />}
          {isNew && kind.groupLabel !== undefined ? (
            <Field
              form={FORM}
              name="group"
              label={kind.groupLabel}
              value={kind.id === 'docs' ? 'docs' : ''}
              problem={problem}
            />
          ) : null}
          {isNamed ? (
            <Field form={FORM} name="title" label={kind.titleLabel} value={document?.title ?? ''} problem={problem} />
          ) : null}
          <TextArea
            form={FORM}
            name="content"
            label="Content"
            hint="Markdown"
            required={false}
            isPlain
            class="code"
            rows={24}
            value={document?.content ?? ''}
            problem={problem}
          />
          <OtherFields form={FORM} inputs={kind.inputs} record={document?.record} problem={problem} />
          {isNew ? null : <SavedElsewhere problem={problem} text={document.content} />}
          <div class="actions">
            <button class="button primary" type="submit">
              Save
            </button>
            <a class="button" href={isNew ? kindPath(kind.id) : documentPath(kind.id, document.id)}>
              Cancel
            </a>
          </div>
        </Form>
      </section>
    </>
  );
}
