/** One change as a row: what was done to what, its difference, and its undo. */
import type { VNode } from 'preact';
import type { NumberedChange } from '../../activity/log.ts';
import type { MemberVisit } from '../pages.ts';
import { FieldChanges } from '../rendering/field-changes.tsx';
import { Form, Given, SubmitButton } from '../ui.tsx';
import { changesPath, filePath } from '../vaults/paths.ts';
import { ACTIVITY_PATH, sessionFields } from './query.ts';
import type { ActivityEntry, FileRef, Session } from './sessions.ts';

export interface EntryDetails {
  readonly changeOf: (number: number) => NumberedChange | undefined;
  /** True for a task that is in the trash now, or gone. */
  readonly isTaskGone: (id: number) => boolean;
  /** Undefined: the category is deleted. */
  readonly categoryName: (id: number) => string | undefined;
}

const VERBS: Readonly<Record<ActivityEntry['act'], string>> = {
  created: 'Added',
  changed: 'Changed',
  deleted: 'Deleted',
  restored: 'Restored',
  moved: 'Renamed',
  event: '',
};

const NOUNS: Readonly<Record<string, string>> = {
  tasks: 'task',
  docs: 'dev doc',
  handoffs: 'handoff',
  papers: 'paper',
};

/** `Added task Water the plants`. */
export function verbAndName({ act, ref, name }: ActivityEntry): string {
  return [VERBS[act], ref.of === 'record' ? NOUNS[ref.kind] : '', name].filter((word) => word !== '').join(' ');
}

export interface EntryRowProps {
  readonly entry: ActivityEntry;
  /** The session that the entry belongs to. */
  readonly session: Session;
  readonly visit: MemberVisit;
  readonly details: EntryDetails;
  /** Where an undo leads back to. */
  readonly back: string;
}

export function EntryRow({ entry, session, visit, details, back }: EntryRowProps): VNode {
  const { act, name, ref, atMs } = entry;
  const change = ref.of === 'record' ? details.changeOf(ref.number) : undefined;
  const href = hrefOf(entry, details);
  const shown = <Given>{name}</Given>;
  return (
    <li class="row entry">
      <div class="row-main">
        <span class={act === 'deleted' ? 'verb deleted' : 'verb'}>{VERBS[act]}</span>{' '}
        {ref.of === 'record' ? `${NOUNS[ref.kind]} ` : ''}
        {href === undefined ? shown : <a href={href}>{shown}</a>}
        {ref.of === 'file' ? <FileMeta file={ref} /> : null}
        {change === undefined || change.act === 'created' ? null : (
          <FieldChanges before={change.before} after={change.after} categoryName={details.categoryName} />
        )}
      </div>
      <div class="entry-acts">
        <time class="meta" datetime={new Date(atMs).toISOString()}>
          {visit.zone.clock(atMs)}
        </time>
        {differencePath(entry, change) === undefined ? null : (
          <a class="button small" href={differencePath(entry, change)}>
            Changes<span class="sr-only"> of {name}</span>
          </a>
        )}
        {ref.of === 'event' ? null : (
          <Form csrf={visit.csrf} action={`${ACTIVITY_PATH}/undo`} class="">
            {Object.entries({
              ...sessionFields({ by: session.by, firstMs: atMs, lastMs: atMs }),
              ...only(ref),
              back,
            }).map(([field, value]) => (
              <input key={field} type="hidden" name={field} value={value} />
            ))}
            <SubmitButton look="small">
              Undo<span class="sr-only"> {name}</span>
            </SubmitButton>
          </Form>
        )}
      </div>
    </li>
  );
}

function FileMeta({ file: { vault, from } }: { readonly file: FileRef }): VNode {
  return (
    <span class="meta">
      {from === undefined ? null : (
        <>
          {' '}
          from <Given>{from}</Given>
        </>
      )}{' '}
      in <Given>{vault}</Given>
    </span>
  );
}

/** The fields that name one change of a session. */
function only(ref: Exclude<ActivityEntry['ref'], { of: 'event' }>): Record<string, string> {
  return ref.of === 'record' ? { number: String(ref.number) } : { vault: ref.vaultId, seq: String(ref.seq) };
}

const PAGES: Readonly<Record<string, string>> = {
  tasks: '/tasks',
  docs: '/documents/docs',
  handoffs: '/documents/handoffs',
  papers: '/documents/papers',
};

function hrefOf({ ref, act }: ActivityEntry, { isTaskGone }: EntryDetails): string | undefined {
  if (ref.of === 'file') return filePath(ref.vaultId, ref.path);
  if (ref.of === 'event') return '/settings#events';
  if (ref.kind === 'tasks' && isTaskGone(ref.item)) return '/tasks/trash';
  return act === 'deleted' ? undefined : `${PAGES[ref.kind]}/${ref.item}`;
}

/** The page with the difference, where there is one. */
function differencePath({ ref, act }: ActivityEntry, change: NumberedChange | undefined): string | undefined {
  if (ref.of === 'file') return act === 'deleted' ? undefined : changesPath(ref.vaultId, ref.path, ref.seq);
  if (change === undefined) return undefined;
  const hasText = change.after['version'] !== undefined || change.after['content'] !== undefined;
  return hasText ? `${ACTIVITY_PATH}/change/${change.number}` : undefined;
}
