/** Shows a folder as it was at a point in time, and restores it to that time. */
import { invalidField } from '../../../common/fault.ts';
import type { Reply } from '../../../http/reply/reply.ts';
import type { Route } from '../../../http/route/route.ts';
import { limits } from '../../../limits/service.ts';
import type { Place } from '../../../sync/history/as-of.ts';
import type { VaultState } from '../../../sync/vaults/vaults.ts';
import { parseIsoMs } from '../../../time/iso-time.ts';
import type { Notice } from '../../notices.ts';
import type { MemberVisit } from '../../pages.ts';
import { authorOf } from '../../visit.ts';
import { type VaultOptions, vaultOfVisit } from '../access.ts';
import { vaultFolderOf } from '../files.ts';
import { folderPath, vaultPath } from '../paths.ts';
import { PastFolder } from './page.tsx';

export function pastRoutes(options: VaultOptions): Route[] {
  return [
    options.pages.memberForm('/vaults/:vault/restore-folder', (visit, form) => restoreFolder(options, visit, form)),
  ];
}

interface PastRequest {
  readonly vault: VaultState;
  /** ISO 8601, or a local time of the reader. */
  readonly at: string;
  readonly after: string | undefined;
}

/** Throws Refusal `invalid_fields` for a time that is invalid or in the future. */
export async function showPast(
  { pages, sync }: VaultOptions,
  visit: MemberVisit,
  { vault, at: given, after }: PastRequest,
): Promise<Reply> {
  const { path: folder, folded } = vaultFolderOf(visit.request.query.get('folder') ?? '');
  const at = new Date(timeOf(given, visit)).toISOString();
  const of = { accountId: visit.accountId, vaultId: vault.id };
  const page = await sync.folderAt.list(of, { folder: folded, atMs: Date.parse(at), after });
  return pages.show(visit, {
    title: `${folder === '' ? vault.record.name : folder}, earlier`,
    section: 'vaults',
    body: <PastFolder visit={visit} vault={vault} folder={folder} at={at} page={page} />,
  });
}

async function restoreFolder({ pages, sync }: VaultOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { accountId, request } = visit;
  const { id: vaultId, head } = vaultOfVisit(sync, accountId, request.params['vault']);
  // The undo form has its fields in its address.
  const field = (name: string) => form.get(name) ?? request.query.get(name) ?? '';
  const { path: folder } = vaultFolderOf(field('folder'));
  const atMs = timeOf(field('at'), visit);
  const done = { restored: 0, deleted: 0, skipped: [] as string[] };
  let after: Place | undefined;
  let calls = 0;
  do {
    const page = await sync.asOf.restore(accountId, {
      vaultId,
      folder,
      atMs,
      isDry: false,
      deviceId: authorOf(visit),
      after,
    });
    done.restored += page.restored.length;
    done.deleted += page.deleted.length;
    done.skipped.push(...page.skipped.map(({ path, reason }) => `${path}: ${reason}`));
    after = page.next;
    calls += 1;
  } while (after !== undefined && calls < limits.asOfCallsPerForm);
  const back = new URLSearchParams({ folder, at: new Date(head.stored_ms).toISOString() });
  const isChanged = done.restored + done.deleted > 0;
  return pages.go(visit, folderPath(vaultId, folder), {
    text: noticeText(done, after !== undefined),
    ...(done.skipped.length === 0 ? {} : { tone: 'bad' as const }),
    ...(isChanged ? { undo: { label: 'Undo', action: `${vaultPath(vaultId)}/restore-folder?${back}` } } : {}),
  } satisfies Notice);
}

function noticeText(
  { restored, deleted, skipped }: { restored: number; deleted: number; skipped: readonly string[] },
  hasMore: boolean,
): string {
  const files = (count: number) => (count === 1 ? '1 file was' : `${count} files were`);
  const [first] = skipped;
  return [
    restored + deleted === 0 ? 'Nothing has changed since then.' : `${files(restored)} restored, ${deleted} deleted.`,
    ...(first === undefined ? [] : [`${files(skipped.length)} not restored, such as ${first}.`]),
    ...(hasMore ? ['There are more files: restore again to continue.'] : []),
  ].join(' ');
}

/** Milliseconds since 1970. A time without a zone is in the reader's zone. */
function timeOf(given: string, { zone }: MemberVisit): number {
  const ms = parseIsoMs(given) ?? zone.read(given);
  if (ms === undefined) throw invalidField('at', 'at must be a date and time, such as 2026-11-20T18:00');
  return Math.floor(ms);
}
