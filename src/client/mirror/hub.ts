/** Client of the backups on a hub (`/api/cert_mirror`): uploads, lists and downloads archives, and verifies downloads. */
import { createHash, createHmac } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { encodeExtValue } from '../../text/ext-value.ts';
import { ClientError, NotSignedIn, Unreachable } from '../client-error.ts';
import { type ClientAnswer, type ClientRequest, refusalOf, sendRequest, type TransferProgress } from '../http.ts';
import { backupExit } from './exit-codes.ts';
import { retryWaitMs } from './retry.ts';

const BASE = '/api/cert_mirror';

/** How requests are authorized, and uploads signed. */
export interface BackupAccess {
  readonly server: string;
  /** The mirror token. `renews`: the token used so far was refused. Throws ClientError. */
  token(renews: boolean): Promise<string>;
  /** Key of the signatures; undefined: this machine can only restore. */
  readonly secret: string | undefined;
  /** True when the token comes from CAIRN_MIRROR_TOKEN: then it is no credential of `cairn backups init`. */
  readonly isFromVariable?: boolean;
  /** Attempts of a request, at least 1. */
  readonly attemptsMax: number;
  /** Is told of each wait before another attempt. */
  readonly onWait?: (reason: string, seconds: number) => void;
}

const issued = z.object({
  status: z.enum(['created', 'existing']),
  token: z.string(),
  hmac_secret: z.string().nullable(),
});
/** Members after `quarantined` are absent on hubs of earlier versions. */
const blobSchema = z.object({
  commit_sha: z.string(),
  sha256: z.string(),
  byte_size: z.number(),
  uploaded_at: z.string(),
  uploaded_by: z.string().nullable().optional(),
  quarantined: z.boolean().optional(),
  repository_id: z.string().nullable().optional(),
  repository_label: z.string().nullable().optional(),
  base_sha256: z.string().nullable().optional(),
  archive_kind: z.enum(['repository', 'tree']).nullable().optional(),
});
const removal = z.object({ removed: z.number() });
const listing = z.object({ blobs: z.array(blobSchema) });

/** An archive on the hub. */
export type MirrorBlob = z.infer<typeof blobSchema>;

/** What is uploaded with an archive besides its bytes. */
export interface ArchiveFacts {
  readonly commit: string;
  readonly uploadedBy?: string | undefined;
  readonly repositoryId?: string | undefined;
  readonly repositoryLabel?: string | undefined;
  /** SHA-256 of the archive that this one continues; undefined: it stands alone. */
  readonly base?: string | undefined;
  readonly kind?: 'repository' | 'tree' | undefined;
}

/** The result of a restore drill (`POST /api/cert_mirror/drills`). */
export interface DrillResult {
  /** Null: archives without a repository. */
  readonly repository_id: string | null;
  readonly commit_sha: string;
  readonly sha256: string;
  readonly outcome: 'proven' | 'failed';
  readonly detail?: string;
}

/** Issues the account's mirror credential, or returns the existing token. The secret is null if it was shown before. */
export async function issueCredential(
  server: string,
  authorization: string,
  rotate: boolean,
): Promise<z.infer<typeof issued>> {
  const body = JSON.stringify(rotate ? { rotate } : {});
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  return read(server, await sendRequest(server, `${BASE}/credentials`, { method: 'POST', headers, body }), issued);
}

export class MirrorHub {
  readonly server: string;
  readonly #access: BackupAccess;

  constructor(access: BackupAccess) {
    this.server = access.server;
    this.#access = access;
  }

  /** Uploads a signed archive. Resolves when the hub has stored it on disk under the hash computed here. */
  async upload(bytes: Uint8Array, facts: ArchiveFacts, progress: TransferProgress): Promise<MirrorBlob> {
    const { secret } = this.#access;
    if (secret === undefined) throw new Error('an upload needs the secret');
    if (bytes.length > limits.uploadBytesMax) {
      throw new ClientError(
        `the encrypted archive has ${bytes.length} bytes, more than the ${limits.uploadBytesMax} of one upload; ` +
          'push without --tree: an archive of the repository is split.',
      );
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const signature = createHmac('sha256', secret).update(bytes).digest('hex');
    const headers = {
      'Content-Type': 'application/octet-stream',
      'X-Tarball-Sha256': sha256,
      'X-Mirror-Signature': `sha256=${signature}`,
      ...factHeaders(facts),
    };
    const answer = await this.#send(BASE, { method: 'POST', headers, body: bytes, onSent: progress });
    const blob = read(this.server, answer, blobSchema);
    if (blob.sha256 !== sha256) {
      throw new ClientError(
        `${this.server} confirmed other bytes (sha256 ${blob.sha256}) than were sent; push again.`,
        backupExit.damaged,
      );
    }
    return blob;
  }

  /** All archives, newest first; with `repositoryId` those of one repository, where the hub can tell them apart. */
  async list(repositoryId?: string | null): Promise<readonly MirrorBlob[]> {
    const filter = repositoryId === undefined ? '' : `&repository_id=${repositoryId ?? 'unknown'}`;
    const found: MirrorBlob[] = [];
    let before: string | undefined = '';
    while (before !== undefined) {
      const query = `?limit=${limits.blobPageMax}${filter}${before}`;
      const answer: ClientAnswer = await this.#sendEither(
        `${BASE}${query}`,
        typeof repositoryId === 'string' ? `${BASE}/uploads${query}` : undefined,
      );
      found.push(...read(this.server, answer, listing).blobs);
      const next = /[?&]before=(\d+)[^>]*>; rel="next"/.exec(answer.header('link') ?? '')?.[1];
      before = next === undefined ? undefined : `&before=${next}`;
    }
    return repositoryId === undefined ? found : found.filter((blob) => (blob.repository_id ?? null) === repositoryId);
  }

  /** True when the hub has this archive, readable under the current credential. That of a large one may be damaged. */
  async has(blob: Pick<MirrorBlob, 'commit_sha' | 'sha256'>): Promise<boolean> {
    const answer = await this.#sendEither(downloadOf(blob), headerOf(blob), { method: 'HEAD' });
    if (answer.status === 200) return true;
    if (answer.status === 404 || answer.status === 422 || (await this.isDamaged(blob))) return false;
    throw refusalOf(this.server, answer);
  }

  /** True when the hub says that the bytes of this archive are damaged. It checks all of them before it sends a part. */
  async isDamaged(blob: Pick<MirrorBlob, 'commit_sha' | 'sha256'>): Promise<boolean> {
    const answer = await this.#send(downloadOf(blob), { headers: { Range: 'bytes=0-0' } });
    return answer.status === 500 && /\bdamaged\b/.test(refusalOf(this.server, answer).message);
  }

  /** The first bytes of an archive; undefined when it cannot be read. */
  async beginning(blob: MirrorBlob, bytes: number): Promise<Buffer | undefined> {
    const headers = { Range: `bytes=0-${bytes - 1}` };
    const answer = await this.#sendEither(downloadOf(blob), headerOf(blob), { headers, bytesMax: bytes });
    return answer.status === 206 || answer.status === 200 ? answer.bytes : undefined;
  }

  /**
   * Downloads an archive into a new file, mode 0600. Its hash is computed here and compared with the one of the list; a
   * download that fails leaves no file.
   */
  async download(
    blob: Pick<MirrorBlob, 'commit_sha' | 'sha256'>,
    file: string,
    progress: TransferProgress,
  ): Promise<void> {
    const path = downloadOf(blob);
    const bytesMax = limits.uploadBytesMax;
    let isWhole = false;
    try {
      await this.#trying(async () => {
        const hash = createHash('sha256');
        const descriptor = openSync(file, 'w', 0o600);
        try {
          const onPart = (part: Buffer) => {
            hash.update(part);
            for (let at = 0; at < part.length; ) at += writeSync(descriptor, part, at);
          };
          const answer = await this.#once(path, { bytesMax, onReceived: progress, onPart });
          if (answer.status === 200 && hash.digest('hex') !== blob.sha256) {
            throw new ClientError(
              `the download of ${blob.commit_sha} arrived damaged; pull again.`,
              backupExit.damaged,
            );
          }
          return answer;
        } finally {
          closeSync(descriptor);
        }
      }).then((answer) => {
        if (answer.status !== 200) throw failureOf(this.server, answer);
      });
      isWhole = true;
    } finally {
      if (!isWhole) rmSync(file, { force: true });
    }
  }

  /** Records a restore drill. Resolves with why it is not recorded; undefined: it is. */
  async recordDrill(result: DrillResult): Promise<string | undefined> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ ...result, repository_id: result.repository_id ?? 'unknown' });
    const answer = await this.#send(`${BASE}/drills`, { method: 'POST', headers, body });
    if (answer.status === 404 || answer.status === 405) return `${this.server} is of an earlier version`;
    // The token of a job that only restores proves the restore to whoever reads its output.
    if (answer.status === 403) return refusalOf(this.server, answer).message.replace(/;.*$/s, '');
    if (answer.status >= 300) throw failureOf(this.server, answer);
    return undefined;
  }

  /** Removes archives. Those of one request go together or not at all. Resolves with their number. Throws ClientError. */
  async remove(archives: readonly MirrorBlob[]): Promise<number> {
    const headers = { 'Content-Type': 'application/json' };
    let removed = 0;
    for (let at = 0; at < archives.length; at += limits.removedArchivesMax) {
      const some = archives.slice(at, at + limits.removedArchivesMax);
      const body = JSON.stringify({ archives: some.map(({ commit_sha, sha256 }) => ({ commit_sha, sha256 })) });
      const answer = await this.#send(`${BASE}/removals`, { method: 'POST', headers, body });
      if (answer.status === 404 || answer.status === 405) {
        throw new ClientError(`${this.server} is of an earlier version, which cannot remove backups; update the hub.`);
      }
      removed += read(this.server, answer, removal).removed;
    }
    return removed;
  }

  /** Asks at the second path when the first is refused: a credential that only uploads may read less. */
  async #sendEither(path: string, other: string | undefined, request: ClientRequest = {}): Promise<ClientAnswer> {
    const answer = await this.#send(path, request);
    return answer.status === 403 && other !== undefined ? await this.#send(other, request) : answer;
  }

  async #send(path: string, request: ClientRequest = {}): Promise<ClientAnswer> {
    return await this.#trying(() => this.#once(path, request));
  }

  async #once(path: string, request: ClientRequest): Promise<ClientAnswer> {
    const sent = async (renews: boolean) => {
      const headers = { ...request.headers, Authorization: `McpKey ${await this.#access.token(renews)}` };
      return sendRequest(this.server, path, { seconds: limits.clientTransferSeconds, ...request, headers });
    };
    const answer = await sent(false);
    return answer.status === 401 ? await sent(true) : answer;
  }

  /** Repeats a request while the failure is temporary. Every request of the mirror is safe to repeat. */
  async #trying(send: () => Promise<ClientAnswer>): Promise<ClientAnswer> {
    const { attemptsMax, onWait } = this.#access;
    for (let attempt = 1; ; attempt += 1) {
      const common = { attempt, attemptsMax, nowMs: Date.now(), random: Math.random() };
      try {
        const answer = await send();
        const { status } = answer;
        const waitMs = retryWaitMs({ ...common, status, retryAfter: answer.header('retry-after') });
        if (waitMs === undefined) {
          if (status === 401)
            throw this.#access.isFromVariable === true ? goneVariable(this.server) : goneToken(this.server);
          return answer;
        }
        onWait?.(`${this.server} answered ${status}`, waitMs / 1000);
        await sleep(waitMs);
      } catch (error) {
        const waitMs = error instanceof Unreachable ? retryWaitMs({ ...common, code: error.code }) : undefined;
        if (waitMs === undefined) throw error;
        onWait?.((error as Error).message.replace(/; try again\.$|\.$/, ''), waitMs / 1000);
        await sleep(waitMs);
      }
    }
  }
}

const downloadOf = ({ commit_sha, sha256 }: Pick<MirrorBlob, 'commit_sha' | 'sha256'>) =>
  `${BASE}/${commit_sha}/download?sha256=${sha256}`;

const headerOf = ({ commit_sha, sha256 }: Pick<MirrorBlob, 'commit_sha' | 'sha256'>) =>
  `${BASE}/${commit_sha}/header?sha256=${sha256}`;

/** The error for a refused request, with the exit code of its kind. */
function failureOf(server: string, answer: ClientAnswer): ClientError {
  const { message } = refusalOf(server, answer);
  if ([408, 429, 502, 503, 504].includes(answer.status)) return new ClientError(message, backupExit.unreachable);
  if (answer.status === 507) return new ClientError(message, backupExit.full);
  if (answer.status === 401 || answer.status === 403) return new NotSignedIn(message, backupExit.credential);
  if (isForeignSecret(answer)) return foreignSecret(server);
  return refusalOf(server, answer);
}

/** True for bytes that arrived as they are, under a signature that their credential did not make. */
function isForeignSecret(answer: ClientAnswer): boolean {
  const { errors } = z.object({ errors: z.record(z.string(), z.unknown()) }).safeParse(answer.json()).data ?? {};
  return answer.status === 422 && errors !== undefined && Object.keys(errors).join() === 'X-Mirror-Signature';
}

function foreignSecret(server: string): NotSignedIn {
  return new NotSignedIn(
    `${server} does not accept the signature: CAIRN_MIRROR_SECRET does not belong to CAIRN_MIRROR_TOKEN. Set both to a pair that ` +
      'was printed together, such as by `cairn backups uploader-create NAME`; on a machine with `cairn backups init`, unset both.',
    backupExit.credential,
  );
}

/** Of a job, as a rule: it can neither sign in nor replace the credential of the account, and must not. */
function goneVariable(server: string): NotSignedIn {
  return new NotSignedIn(
    `${server} does not accept the token of CAIRN_MIRROR_TOKEN: it was revoked or replaced. For a CI job, make another one where you are ` +
      'signed in, and store what it prints: `cairn backups uploader-create NAME` to upload, `cairn backups restorer-create NAME` to restore. ' +
      'On a machine of your own, unset CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET, and run `cairn login`.',
    backupExit.credential,
  );
}

function goneToken(server: string): NotSignedIn {
  return new NotSignedIn(
    `${server} does not accept this mirror token: the credential was replaced or deleted. Restoring needs only \`cairn login\`. ` +
      'To upload from here again, set CAIRN_MIRROR_TOKEN and CAIRN_MIRROR_SECRET to the current pair; or run ' +
      '`cairn backups init --rotate`, which issues a new pair and sends every archive again, so that all stay readable.',
    backupExit.credential,
  );
}

function factHeaders(facts: ArchiveFacts): Record<string, string> {
  const { commit, uploadedBy, repositoryId, repositoryLabel, base, kind } = facts;
  return {
    'X-Commit-Sha': commit,
    'X-Uploaded-By': labelHeader(uploadedBy ?? hostname()),
    ...(repositoryId === undefined ? {} : { 'X-Repository-Id': repositoryId }),
    ...(repositoryLabel === undefined ? {} : { 'X-Repository-Label': labelHeader(repositoryLabel, true) }),
    ...(base === undefined ? {} : { 'X-Archive-Base': base }),
    ...(kind === undefined ? {} : { 'X-Archive-Kind': kind }),
  };
}

function read<T>(server: string, answer: ClientAnswer, schema: z.ZodType<T>): T {
  if (answer.status !== 200) throw failureOf(server, answer);
  const parsed = schema.safeParse(answer.json());
  if (!parsed.success) throw new ClientError(`${server} did not answer like a Cairn mirror; check --server.`);
  return parsed.data;
}

/** A label of any language as a header, which holds ASCII (RFC 8187). `isEncoded`: always in the encoded form. */
function labelHeader(label: string, isEncoded = false): string {
  const shown = Array.from(label.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?'))
    .slice(0, limits.uploadedByCharsMax)
    .join('');
  return !isEncoded && /^[ -~]*$/.test(shown) ? shown : encodeExtValue(shown);
}
