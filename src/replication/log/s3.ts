/** Objects in an S3-compatible bucket. `PUT` with `If-None-Match: *` creates each once. */
import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { StartError } from '../../common/start-error.ts';
import type { Created } from './log.ts';
import type { ObjectStore } from './object-log.ts';

/** Where a bucket is, and who asks. */
export interface Bucket {
  /** The URL of the bucket, with `/` at its end. */
  readonly url: string;
  /** In front of every name: empty, or ending with `/`. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** How long one request may take, and the slowest transfer that is waited for. */
const REQUEST_MS = 10_000;
const BYTES_PER_MS_MIN = 100;
/** A request that changes nothing when it is repeated is tried once more after a failure of the network or the store. */
const REPEAT_AFTER_MS = 200;
const PLAIN_NAME = /^[A-Za-z0-9._/-]*$/;
const PLAIN_BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** The store answered, and not as hoped. */
class StoreAnswer extends Error {
  override readonly name = 'StoreAnswer';
  readonly status: number;

  constructor(method: string, name: string, status: number, body: string) {
    const [code, message] = [tag(body, 'Code'), tag(body, 'Message')];
    super(
      `${method} ${name} was answered ${status} ${code ?? ''}${message === undefined ? '' : `: ${message}`}`.trim(),
    );
    this.status = status;
  }
}

/** Reads `s3://bucket/prefix` and the usual AWS_* variables. Throws StartError. */
export function readBucket(url: URL, environment: Environment): Bucket {
  const bucket = url.hostname;
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  if (!PLAIN_BUCKET.test(bucket) || !PLAIN_NAME.test(prefix)) {
    throw new StartError(`CAIRN_LOG is ${url.href}: write s3://BUCKET/PREFIX with letters, digits, ".", "_" and "-".`);
  }
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) {
    throw new StartError(`The log at ${url.href} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Set both.`);
  }
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'];
  return {
    url: bucketUrl(bucket, region, endpoint),
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken: environment['AWS_SESSION_TOKEN'] || undefined,
  };
}

function bucketUrl(bucket: string, region: string, endpoint?: string): string {
  if (!endpoint) return `https://${bucket}.s3.${region}.amazonaws.com/`;
  if (!URL.canParse(endpoint)) throw new StartError(`AWS_ENDPOINT_URL is ${endpoint}, which is not a URL.`);
  return `${endpoint.replace(/\/+$/, '')}/${bucket}/`;
}

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signedAtMs?: number | undefined;
}

interface S3Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

export class S3Store implements ObjectStore {
  readonly #bucket: Bucket;
  readonly #requestMs: number;
  /** Derived signing keys, by day. */
  readonly #keys = new Map<string, ArrayBuffer>();

  /** @param requestMs how long one request may take, besides the time of its bytes */
  constructor(bucket: Bucket, requestMs = REQUEST_MS) {
    this.#bucket = bucket;
    this.#requestMs = requestMs;
  }

  async create(name: string, bytes: Uint8Array, signedAtMs?: number): Promise<Created> {
    const headers = { 'If-None-Match': '*' };
    const answer = await this.#send({ method: 'PUT', name, body: bytes, headers, signedAtMs });
    if (answer.status === 200 || answer.status === 201) return 'written';
    if (answer.status === 412) return 'taken';
    throw refused('PUT', name, answer);
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const answer = await this.#sendTwice({ method: 'GET', name });
    if (answer.status === 200) return answer.body;
    // A missing bucket is 404 as well, and is not an empty one.
    if (answer.status === 404 && tag(text(answer), 'Code') !== 'NoSuchBucket') return undefined;
    throw refused('GET', name, answer);
  }

  async list(prefix: string, after: string, limit: number): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const start = names.at(-1) ?? (after === '' ? undefined : prefix + after);
      const query: Record<string, string> = {
        'list-type': '2',
        prefix: this.#bucket.prefix + prefix,
        'max-keys': String(limit - names.length),
      };
      if (start !== undefined) query['start-after'] = this.#bucket.prefix + start;
      const answer = await this.#sendTwice({ method: 'GET', name: '', query });
      if (answer.status !== 200) throw refused('GET', prefix, answer);
      const page = text(answer);
      const keys = [...page.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
      names.push(...keys.map((key) => key.slice(this.#bucket.prefix.length)));
      // A store may answer with fewer names than were asked for.
      if (names.length >= limit || keys.length === 0 || tag(page, 'IsTruncated') !== 'true') return names;
    }
  }

  async remove(name: string): Promise<void> {
    const answer = await this.#sendTwice({ method: 'DELETE', name });
    if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404) throw refused('DELETE', name, answer);
  }

  async close(): Promise<void> {}

  /** For requests that may be repeated: connections that were idle break often. */
  async #sendTwice(request: S3Request): Promise<S3Answer> {
    const first = await this.#send(request).catch(() => undefined);
    if (first !== undefined && first.status < 500 && first.status !== 429) return first;
    await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS));
    return await this.#send(request);
  }

  async #send({ method, name, query = {}, body, headers = {}, signedAtMs }: S3Request): Promise<S3Answer> {
    const { url: base, prefix, region, accessKeyId, secretAccessKey, sessionToken } = this.#bucket;
    const url = new URL(name === '' ? base : base + prefix + name);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'X-Amz-Content-Sha256': sha256(body ?? new Uint8Array()) },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: 's3',
      region,
      cache: this.#keys,
      datetime: new Date(signedAtMs ?? Date.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    });
    const signed = await signer.sign();
    const limitMs = this.#requestMs + Math.ceil((body?.length ?? 0) / BYTES_PER_MS_MIN);
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      // A copy of the view: types of fetch know no shared memory.
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
      redirect: 'error',
      signal: AbortSignal.timeout(limitMs),
    });
    return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
  }
}

const text = ({ body }: S3Answer): string => Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();

const refused = (method: string, name: string, answer: S3Answer): StoreAnswer =>
  new StoreAnswer(method, name, answer.status, text(answer));

function tag(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
