/** The page that compares two versions of a file: a version with its predecessor, or with the current version. */
import type { VNode } from 'preact';
import type { Reply } from '../../../http/reply/reply.ts';
import { limits } from '../../../limits/service.ts';
import type { FileRecord } from '../../../sync/log/file-record.ts';
import type { Vault } from '../../../sync/vaults/vaults.ts';
import { textContentOf } from '../../../text/text-content.ts';
import type { MemberVisit } from '../../pages.ts';
import { Given } from '../../ui.tsx';
import { type VaultOptions, vaultOfVisit } from '../access.ts';
import { Crumbs } from '../crumbs.tsx';
import { previousIn, readSeq, vaultFileOf, versionOf } from '../files.ts';
import { changesPath, filePath, nameOf, parentOf } from '../paths.ts';
import { Counts } from './counts.tsx';
import { DiffTable, type RenderedDiff, renderDiff } from './diff-table.tsx';
import { changesIn, sideBySide } from './side-by-side.ts';

/** Two versions; `from` is undefined when there is no earlier one. */
interface Pair {
  readonly from: number | undefined;
  readonly to: number;
}

export type Difference =
  | { readonly kind: 'lines'; readonly diff: RenderedDiff; readonly added: number; readonly removed: number }
  | { readonly kind: 'same' | 'binary' | 'large' };

/** Throws Refusal `path_not_found`, or `not_found` for a version of another file. */
export async function showChanges({ pages, sync }: VaultOptions, visit: MemberVisit): Promise<Reply> {
  const { accountId, request } = visit;
  const vault = vaultOfVisit(sync, accountId, request.params['vault']);
  const file = vaultFileOf(sync, vault.id, request.query.get('path') ?? '');
  const seq = readSeq(request.query.get('seq')) ?? file.seq;
  const isSince = request.query.get('to') === 'current';
  const numbers = await sync.history.numbersOf(accountId, vault.id, file);
  const pair: Pair = isSince ? { from: seq, to: file.seq } : { from: previousIn(numbers, seq), to: seq };
  const contentOf = (at: number | undefined) =>
    at === undefined ? { sizeBytes: 0, content: () => undefined } : versionOf(sync, vault.id, file, at);
  const sides = [contentOf(pair.from), contentOf(pair.to)] as const;
  const difference = await differenceOf({ sync }, accountId, sides);
  const body = <ChangesPage {...{ vault, file, pair, isSince, difference, numbers }} />;
  return pages.show(visit, { title: `Changes: ${file.path}`, section: 'vaults', body });
}

interface SideBytes {
  readonly sizeBytes: number;
  /** Returns undefined when the file does not exist in this version. */
  readonly content: () => Uint8Array | undefined;
}

/** Compares two versions of a file by lines, if both are short texts. */
export async function differenceOf(
  { sync }: Pick<VaultOptions, 'sync'>,
  accountId: string,
  sides: readonly [SideBytes, SideBytes],
): Promise<Difference> {
  if (sides.some(({ sizeBytes }) => sizeBytes > limits.mergeBytesMax)) return { kind: 'large' };
  const [before, after] = sides.map(({ content }) => textContentOf(content() ?? new Uint8Array(0)));
  if (before === undefined || after === undefined) return { kind: 'binary' };
  if (before === after) return { kind: 'same' };
  const names = { beforeName: 'before', afterName: 'after', contextLines: limits.diffContextLines };
  const diff = await sync.comparer.diff({ before, after, ...names }, accountId);
  if (!diff.includes('\n@@ ')) return { kind: 'large' };
  const rows = await renderDiff(sideBySide(diff, limits.diffRowsMax), accountId);
  return { kind: 'lines', diff: rows, ...changesIn(diff) };
}

interface ChangesPageProps {
  readonly vault: Vault;
  readonly file: FileRecord;
  readonly pair: Pair;
  readonly isSince: boolean;
  readonly difference: Difference;
  /** The number of each version for people. */
  readonly numbers: ReadonlyMap<number, number>;
}

function ChangesPage({ vault, file, pair, isSince, difference, numbers }: ChangesPageProps): VNode {
  const { path } = file;
  const seq = isSince ? (pair.from ?? pair.to) : pair.to;
  const number = numbers.get(seq);
  const from = pair.from === undefined ? undefined : numbers.get(pair.from);
  const to = numbers.get(pair.to);
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} path={parentOf(path)} />
        <h1 class="path">
          <Given>{nameOf(path)}</Given>
        </h1>
        <p class="lead">
          {pair.from === undefined ? `Version ${to}, the oldest kept` : `Version ${from} to ${to}`}
          {pair.to === file.seq ? ', the current one' : ''}
        </p>
      </div>
      {seq === file.seq ? null : (
        <nav class="chips" aria-label="Compare">
          <a href={changesPath(vault.id, path, seq)} aria-current={isSince ? undefined : 'page'}>
            What version {number} changed
          </a>
          <a href={changesPath(vault.id, path, seq, 'current')} aria-current={isSince ? 'page' : undefined}>
            What changed since
          </a>
        </nav>
      )}
      <section class="panel" aria-labelledby="differences">
        <div class="panel-head">
          <h2 id="differences">Changes</h2>
          {difference.kind === 'lines' ? (
            <p>
              <Counts {...difference} />
            </p>
          ) : null}
        </div>
        <DifferenceView difference={difference} from={from} to={to} />
        <div class="actions">
          <a class="button small" href={filePath(vault.id, path, seq === file.seq ? undefined : seq)}>
            Show version {number}
          </a>
          <a class="button small" href={`${filePath(vault.id, path)}#history`}>
            History
          </a>
        </div>
      </section>
    </>
  );
}

interface DifferenceProps {
  readonly difference: Difference;
  /** Numbers of the two versions; `from` is undefined when there is no earlier one. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export function DifferenceView({ difference, from, to }: DifferenceProps): VNode {
  switch (difference.kind) {
    case 'same':
      return <p>The content is the same.</p>;
    case 'binary':
      return <p>Binary content cannot be compared by lines.</p>;
    case 'large':
      return <p>The versions are too large to compare by lines.</p>;
    case 'lines':
      return (
        <>
          <DiffTable
            diff={difference.diff}
            left={from === undefined ? '− Nothing' : `− Version ${from}`}
            right={`+ Version ${to}`}
          />
          {difference.diff.isCut ? <p class="meta">Only some of the differences are shown.</p> : null}
        </>
      );
  }
}
