/** Client of a hub's certificate mirror: uploads, lists and downloads blobs, and verifies the downloads. */
import { createHash, createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { encodeExtValue } from '../../text/ext-value.ts';
import { ClientError, NotSignedIn } from '../client-error.ts';
import { type ClientAnswer, type ClientRequest, refusalOf, sendRequest, type TransferProgress } from '../http.ts';

const BASE = '/api/cert_mirror';

/** Token that identifies an uploader, and the secret for its signatures. */
export interface MirrorCredential {
  readonly token: string;
  readonly hmac_secret: string;
}

const issued = z.object({
  status: z.enum(['created', 'existing']),
  token: z.string(),
  hmac_secret: z.string().nullable(),
});
const blobSchema = z.object({
  commit_sha: z.string(),
  sha256: z.string(),
  byte_size: z.number(),
  uploaded_at: z.string(),
  uploaded_by: z.string().nullable().optional(),
  quarantined: z.boolean().optional(),
});
const listing = z.object({ blobs: z.array(blobSchema) });

export type MirrorBlob = z.infer<typeof blobSchema>;

/** Issues the account's mirror credential. The secret is null if it was shown before. */
export async function issueCredential(
  server: string,
  authorization: string,
  rotate: boolean,
): Promise<z.infer<typeof issued>> {
  const body = JSON.stringify({ rotate });
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  return read(server, await sendRequest(server, `${BASE}/credentials`, { method: 'POST', headers, body }), issued);
}

export class MirrorHub {
  readonly #server: string;
  readonly #credential: MirrorCredential;

  constructor(server: string, credential: MirrorCredential) {
    this.#server = server;
    this.#credential = credential;
  }

  /** Uploads a signed blob. Resolves when the hub has stored it on disk under the hash computed here. */
  async upload(
    commit: string,
    bytes: Uint8Array,
    label: string | undefined,
    progress: TransferProgress,
  ): Promise<MirrorBlob> {
    if (bytes.length > limits.uploadBytesMax) {
      throw new ClientError(
        `the encrypted archive has ${bytes.length} bytes, more than the ${limits.uploadBytesMax} that the mirror accepts; ` +
          'leave large files out of the archive with export-ignore in .gitattributes.',
      );
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const signature = createHmac('sha256', this.#credential.hmac_secret).update(bytes).digest('hex');
    const headers = {
      'Content-Type': 'application/octet-stream',
      'X-Commit-Sha': commit,
      'X-Tarball-Sha256': sha256,
      'X-Mirror-Signature': `sha256=${signature}`,
      'X-Uploaded-By': labelHeader(label ?? hostname()),
    };
    const answer = await this.#send(BASE, { method: 'POST', headers, body: bytes, onSent: progress });
    const blob = read(this.#server, answer, blobSchema);
    if (blob.sha256 !== sha256) {
      throw new ClientError(
        `${this.#server} confirmed other bytes (sha256 ${blob.sha256}) than were sent; push again.`,
      );
    }
    return blob;
  }

  /** The newest blobs, newest first. */
  async list(count: number): Promise<readonly MirrorBlob[]> {
    return read(this.#server, await this.#send(`${BASE}?limit=${count}`), listing).blobs;
  }

  /** The newest blob; undefined when nothing has been uploaded. */
  async latest(): Promise<MirrorBlob | undefined> {
    const answer = await this.#send(`${BASE}/latest`);
    return answer.status === 404 ? undefined : read(this.#server, answer, blobSchema);
  }

  /** True when the hub has a blob of the commit whose signature is valid under the current credential. */
  async has(commit: string): Promise<boolean> {
    const answer = await this.#send(`${BASE}/${commit}/download`, { method: 'HEAD' });
    if (answer.status === 200) return true;
    if (answer.status === 404 || answer.status === 422) return false;
    throw refusalOf(this.#server, answer);
  }

  /**
   * Downloads the newest blob of a commit. Its hash is computed here and compared with the one recorded at the upload.
   */
  async download(
    commit: string,
    progress: TransferProgress,
  ): Promise<{ readonly bytes: Buffer; readonly sha256: string }> {
    const answer = await this.#send(`${BASE}/${commit}/download`, {
      bytesMax: limits.uploadBytesMax,
      onReceived: progress,
    });
    if (answer.status !== 200) throw refusalOf(this.#server, answer);
    const sha256 = createHash('sha256').update(answer.bytes).digest('hex');
    if (sha256 !== answer.header('x-tarball-sha256')) {
      throw new ClientError(`the download of ${commit} arrived damaged; pull again.`);
    }
    return { bytes: answer.bytes, sha256 };
  }

  async #send(path: string, request: ClientRequest = {}): Promise<ClientAnswer> {
    const headers = { ...request.headers, Authorization: `McpKey ${this.#credential.token}` };
    const answer = await sendRequest(this.#server, path, {
      seconds: limits.clientTransferSeconds,
      ...request,
      headers,
    });
    if (answer.status !== 401) return answer;
    throw new NotSignedIn(
      `${this.#server} does not accept this mirror token: the credential was replaced or revoked. Set CAIRN_MIRROR_TOKEN and ` +
        'CAIRN_MIRROR_SECRET to the current one, or run `cairn mirror init --rotate`, and push every commit again.',
    );
  }
}

function read<T>(server: string, answer: ClientAnswer, schema: z.ZodType<T>): T {
  if (answer.status !== 200) throw refusalOf(server, answer);
  const parsed = schema.safeParse(answer.json());
  if (!parsed.success) throw new ClientError(`${server} did not answer like a Cairn mirror; check --server.`);
  return parsed.data;
}

/** A label of any language as a header: a header holds ASCII. */
function labelHeader(label: string): string {
  const shown = Array.from(label.replace(/\p{Cc}/gu, '?'))
    .slice(0, limits.uploadedByCharsMax)
    .join('');
  return /^[ -~]*$/.test(shown) ? shown : encodeExtValue(shown);
}
