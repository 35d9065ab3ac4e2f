/** Reads what a mirror shows: its list over all pages, its latest, its verify report. */
import { call } from './http.ts';
import type { Hub } from './hub.ts';
import { type Credential, get } from './mirror.ts';

export interface ListedBlob {
  readonly commit_sha: string;
  readonly sha256: string;
  readonly byte_size: number;
  readonly uploaded_at: string;
  readonly uploaded_by: string | null;
  readonly repository_id: string | null;
  readonly repository_label: string | null;
  readonly base_sha256: string | null;
  readonly archive_kind: 'repository' | 'tree' | null;
}

/** What the list shows of an archive that was uploaded without a repository. */
export const UNGROUPED = {
  repository_id: null,
  repository_label: null,
  base_sha256: null,
  archive_kind: null,
} as const;

export interface VerifyReport {
  readonly ok: boolean;
  readonly blobs: number;
  readonly blob_bytes: number;
  readonly staged_uploads: number;
  /** Imports under way. */
  readonly imports: number;
  readonly problems: readonly string[];
}

type Who = Pick<Credential, 'token'>;

/** One page of the list and the path of the next one. */
export async function listPage(
  hub: Hub,
  who: Who,
  query = '',
): Promise<{ readonly blobs: ListedBlob[]; readonly next: string | undefined }> {
  const answer = await get(hub, who, query);
  if (answer.status !== 200) throw new Error(`list answered ${answer.status}: ${answer.text}`);
  const link = answer.headers['link'];
  const next = typeof link === 'string' ? /<\/api\/cert_mirror([^>]*)>; rel="next"/.exec(link)?.[1] : undefined;
  if (link !== undefined && next === undefined) throw new Error('the Link header names no next page');
  return { blobs: answer.json()['blobs'] as ListedBlob[], next };
}

/** Every blob, newest first, over all pages. */
export async function listAll(hub: Hub, who: Who, limit?: number): Promise<ListedBlob[]> {
  const blobs: ListedBlob[] = [];
  let query: string | undefined = limit === undefined ? '' : `?limit=${limit}`;
  while (query !== undefined) {
    const page: Awaited<ReturnType<typeof listPage>> = await listPage(hub, who, query);
    blobs.push(...page.blobs);
    query = page.next;
  }
  return blobs;
}

/** The fields of the latest blob; undefined when there is none yet. */
export async function latestOf(hub: Hub, who: Who): Promise<Record<string, unknown> | undefined> {
  const answer = await get(hub, who, '/latest');
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new Error(`latest answered ${answer.status}: ${answer.text}`);
  return answer.json();
}

/** The report of `cairn verify --json` with the exit code that came with it. */
export async function verified(hub: Pick<Hub, 'cli'>): Promise<VerifyReport & { readonly code: number }> {
  const { code, stdout, stderr } = await hub.cli('verify', '--json');
  if (!stdout.startsWith('{')) throw new Error(`verify wrote no report: ${stderr}`);
  return { code, ...(JSON.parse(stdout) as VerifyReport) };
}

/** Asks again until there is an answer; rejects when there was none in time. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  msMax = 60_000,
): Promise<T> {
  const deadline = Date.now() + msMax;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`in ${msMax} ms it never came to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Resolves when no staged upload is left in the data file. */
export function untilNothingStaged(hub: Pick<Hub, 'cli'>): Promise<VerifyReport> {
  return until('no staged uploads', async () => {
    const report = await verified(hub);
    return report.staged_uploads === 0 ? report : undefined;
  });
}

/** Resolves when the hub has taken in everything that was handed to the system before this call. */
export async function tookEverything(hub: Pick<Hub, 'url'>): Promise<void> {
  await call(hub, '/health');
  await call(hub, '/health');
}
