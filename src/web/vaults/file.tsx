/** The page of one file: its content, its versions, and a form to restore one. */
import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import type { VersionMeta } from '../../sync/log/version.ts';
import type { Vault } from '../../sync/vaults/vaults.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { Ago } from '../rendering/ago.tsx';
import type { ShownPart } from '../rendering/parts.ts';
import { PartsNav } from '../rendering/parts-nav.tsx';
import { Code, Prose, type RenderedHtml } from '../rendering/renderer.tsx';
import { By, bytesText, Confirm, Form, Given, ScrollingText, SubmitButton } from '../ui.tsx';
import { Counts, type LineCounts } from './compare/counts.tsx';
import { Crumbs } from './crumbs.tsx';
import {
  bytesPath,
  changesPath,
  editPath,
  filePath,
  folderPath,
  nameOf,
  parentOf,
  rawPath,
  vaultPath,
} from './paths.ts';

export type Shown =
  | {
      readonly kind: 'text';
      readonly part: ShownPart;
      /** The part, highlighted, in numbered lines; undefined: rendering took too long. */
      readonly rendered: RenderedHtml | undefined;
      /** It is Markdown shown as source. */
      readonly canRender: boolean;
    }
  | { readonly kind: 'markdown'; readonly rendered: RenderedHtml }
  | { readonly kind: 'image' | 'binary' | 'deleted' };

export interface FilePageProps {
  readonly visit: MemberVisit;
  readonly vault: Vault;
  readonly file: FileRecord;
  /** The version shown. */
  readonly seq: number;
  readonly shown: Shown;
  readonly versions: readonly VersionMeta[];
  /** The number of each version for people, by sequence number: 1 is the oldest that is kept. */
  readonly numbers: ReadonlyMap<number, number>;
  /** Lines that versions added and removed, where they were counted. */
  readonly counts: ReadonlyMap<number, LineCounts>;
  /** Start of the next page of versions; undefined: this was the last. */
  readonly older: number | undefined;
  readonly problem: Problem | undefined;
}

export function FilePage(props: FilePageProps): VNode {
  const { visit, vault, file, seq, older } = props;
  const isCurrent = seq === file.seq;
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} path={parentOf(file.path)} />
        <h1 class="path">
          <Given>{nameOf(file.path)}</Given>
        </h1>
        <p class="lead">
          {isCurrent
            ? file.deleted
              ? 'Deleted'
              : 'Current version'
            : `Version ${props.numbers.get(seq)}, not current`}
          {file.deleted || !isCurrent ? null : (
            <>
              , {bytesText(file.size_bytes)}, <Ago at={file.stored_ms} zone={visit.zone} />,
              <By name={file.device_id} visit={visit} />
            </>
          )}
        </p>
      </div>
      <section class="panel" aria-label="Content">
        <div class="toolbar">
          <ViewLinks {...props} />
          <FileActions {...props} />
        </div>
        <Content {...props} />
      </section>
      <section class="panel" aria-labelledby="history">
        <h2 id="history">History</h2>
        <p class="lead">
          Versions are kept for {limits.historyDays} days, and the last {limits.historyVersionsMin} permanently.
        </p>
        <ul class="rows">
          {props.versions.map((version) => (
            <Version key={version.seq} version={version} {...props} />
          ))}
        </ul>
        {older === undefined ? null : (
          <nav aria-label="Pages of versions">
            <a href={`${filePath(vault.id, file.path)}&before=${older}`}>Older versions</a>
          </nav>
        )}
      </section>
    </>
  );
}

/** The actions on a file. A file that is deleted or not current can be restored from its history. */
function FileActions({ visit, vault, file, seq, shown, problem }: FilePageProps): VNode {
  const isCurrent = seq === file.seq;
  const { path } = file;
  const base = <input type="hidden" name="base" value={file.sha256} />;
  const isText = shown.kind === 'text' || shown.kind === 'markdown';
  return (
    <div class="actions row">
      {isCurrent && isText && file.size_bytes <= limits.editedTextBytesMax ? (
        <a class="button small" href={editPath(vault.id, path, seq)}>
          Edit
        </a>
      ) : null}
      {shown.kind === 'deleted' ? null : (
        <a class="button small" href={bytesPath(vault.id, path, seq)} download={nameOf(path)}>
          Download
        </a>
      )}
      {isCurrent ? null : (
        <a class="button small" href={filePath(vault.id, path)}>
          Show the current version
        </a>
      )}
      {!isCurrent || file.deleted ? null : (
        <>
          <Confirm label="Rename…" danger={false} open={problem !== undefined}>
            <Form csrf={visit.csrf} action={`${vaultPath(vault.id)}/rename`}>
              <FormErrors form="rename" problem={problem} shown={['to']} />
              <input type="hidden" name="path" value={path} />
              {base}
              <Field form="rename" name="to" label="New path" value={path} problem={problem} />
              <SubmitButton look="primary">Rename</SubmitButton>
            </Form>
          </Confirm>
          <Confirm label="Delete…">
            <p>Your devices delete the file too. Its history is kept, so it can be restored.</p>
            <Form csrf={visit.csrf} action={`${vaultPath(vault.id)}/delete`}>
              <input type="hidden" name="path" value={path} />
              {base}
              <SubmitButton look="danger">Delete this file</SubmitButton>
            </Form>
          </Confirm>
        </>
      )}
    </div>
  );
}

/** Links to switch between rendered Markdown and its source. */
function ViewLinks({ vault, file, seq, shown }: FilePageProps): VNode | null {
  const isRendered = shown.kind === 'markdown';
  if (!isRendered && !(shown.kind === 'text' && shown.canRender)) return null;
  const path = filePath(vault.id, file.path, seq === file.seq ? undefined : seq);
  return (
    <nav class="chips" aria-label="View">
      <a href={path} aria-current={isRendered ? 'page' : undefined}>
        Rendered
      </a>
      <a href={`${path}&view=source`} aria-current={isRendered ? undefined : 'page'}>
        Source
      </a>
    </nav>
  );
}

function Content({ vault, file, seq, shown }: FilePageProps): VNode {
  switch (shown.kind) {
    case 'markdown':
      return <Prose rendered={shown.rendered} />;
    case 'image':
      return <img class="picture" src={rawPath(vault.id, file.path, seq)} alt={nameOf(file.path)} />;
    case 'deleted':
      return <p>The file was deleted. Restore an earlier version below.</p>;
    case 'binary':
      return <p>Binary file. Download it to view it.</p>;
    case 'text': {
      const path = `${filePath(vault.id, file.path, seq === file.seq ? undefined : seq)}&view=source`;
      const parts = <PartsNav shown={shown.part} pathOf={(part) => `${path}&part=${part}`} />;
      return (
        <>
          {parts}
          {shown.part.text === '' ? (
            <p class="meta">The file is empty.</p>
          ) : shown.rendered !== undefined ? (
            <Code rendered={shown.rendered} label="Content of the file" />
          ) : (
            <ScrollingText label="Content of the file">
              <code>{shown.part.text}</code>
            </ScrollingText>
          )}
          {parts}
        </>
      );
    }
  }
}

function Version({
  version,
  visit,
  vault,
  file,
  seq: looked,
  numbers,
  counts,
}: FilePageProps & { readonly version: VersionMeta }): VNode {
  const { seq, status, size_bytes: bytes, stored_at: at, device_id: device, renamed_from: from } = version;
  const isCurrent = seq === file.seq;
  const number = numbers.get(seq);
  const count = counts.get(seq);
  const isDeletion = status === 'deleted';
  return (
    <li class="row" aria-current={seq === looked ? 'true' : undefined}>
      <div class="row-main">
        {isDeletion ? (
          <strong>{status}</strong>
        ) : (
          <a href={filePath(vault.id, file.path, seq)}>
            version {number}, {status}
          </a>
        )}{' '}
        {isCurrent ? <span class="badge good">current</span> : null}
        <p class="meta">
          {isDeletion ? null : <>{bytesText(bytes)} · </>}
          {count === undefined ? null : (
            <>
              <Counts {...count} /> ·{' '}
            </>
          )}
          <Ago at={at} zone={visit.zone} /> ·<By name={device} visit={visit} />
          {from === undefined ? null : (
            <>
              {' '}
              · was <Given>{from}</Given>
            </>
          )}
        </p>
        <p class="links">
          <a href={changesPath(vault.id, file.path, seq)}>What it changed</a>
          {isCurrent || file.deleted ? null : (
            <a href={changesPath(vault.id, file.path, seq, 'current')}>What changed since</a>
          )}
          <a href={folderPath(vault.id, parentOf(version.path), { at })}>Folder at this time</a>
        </p>
      </div>
      {isCurrent || isDeletion ? null : (
        <Confirm label="Restore…" of={`version ${number}`} danger={false}>
          <p>Version {number} becomes the current one. The version before it stays in the history.</p>
          <Form csrf={visit.csrf} action={`${vaultPath(vault.id)}/restore`}>
            <input type="hidden" name="path" value={file.path} />
            <input type="hidden" name="seq" value={seq} />
            <input type="hidden" name="base" value={file.deleted ? '' : file.sha256} />
            <SubmitButton look="primary">Restore version {number}</SubmitButton>
          </Form>
        </Confirm>
      )}
    </li>
  );
}
