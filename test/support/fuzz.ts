/** Makes requests that nobody would write, from a seed: every described route, every tool, pages, odd envelopes, heads and bodies. */
import { randomOf } from './random.ts';

export interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** What a fuzzer knows of a hub. */
export interface Known {
  /** Method and path of each described route, with `{parameters}`. */
  readonly routes: readonly (readonly [method: string, path: string])[];
  /** The schema of the arguments of each tool. */
  readonly tools: ReadonlyMap<string, Record<string, unknown>>;
  /** Values of the header `Authorization` that open something. */
  readonly credentials: readonly string[];
  /** Well-formed requests, which are changed in places. */
  readonly samples: readonly FuzzedRequest[];
}

const PAGES = [
  '/',
  '/tasks',
  '/board',
  '/vaults',
  '/mirror',
  '/documents',
  '/search',
  '/settings',
  '/signin',
  '/signup',
  '/device',
];
const MORE_PAGES = [
  '/forgot',
  '/reset',
  '/accounts',
  '/help',
  '/oauth/authorize',
  '/health',
  '/ready',
  '/metrics',
  '/mcp',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'multipart/form-data; boundary=x',
  '',
];
const RPC_METHODS = [
  'tools/call',
  'tools/list',
  'initialize',
  'ping',
  'resources/read',
  'resources/list',
  'completion/complete',
];
const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '../../etc/passwd',
  'a/b.md',
  '\u202e',
  '\ud800',
  '💣',
  '%00',
  '{{7*7}}',
  '<script>',
  "' or 1=1",
  'NaN',
];
const ODD_NUMBERS = [0, -1, 1, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 1e-9];
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'length', ''];
const NESTED_MAX = 4;
const LONG_CHARS = 20_000;

export class Fuzzer {
  readonly #random: () => number;
  readonly #known: Known;

  constructor(seed: number, known: Known) {
    this.#random = randomOf(seed);
    this.#known = known;
  }

  next(): FuzzedRequest {
    const kind = this.#random();
    if (kind < 0.3) return this.#call();
    if (kind < 0.5) return this.#route();
    if (kind < 0.6) return this.#page();
    if (kind < 0.7) return this.#envelope();
    return this.#mutant();
  }

  /** A well-formed request with something changed, or nothing. */
  #mutant(): FuzzedRequest {
    const sample = this.#pick(this.#known.samples);
    const headers = { ...sample.headers };
    if (this.#random() < 0.15) {
      const name = this.#pick(Object.keys(headers));
      if (this.#random() < 0.5) delete headers[name];
      else headers[name] = this.#segment();
    }
    const isForm = String(headers['Content-Type']).includes('urlencoded');
    const changed = this.#random() < 0.2 ? sample.body : isForm ? this.#form(sample.body) : this.#cut(sample.body);
    const path = this.#random() < 0.1 ? `${sample.path}${this.#query()}` : sample.path;
    return { method: sample.method, path, headers, body: changed };
  }

  #form(body: Buffer | undefined): Buffer {
    const fields = new URLSearchParams(String(body ?? ''));
    for (const name of new Set(fields.keys())) {
      const kind = this.#random();
      // Without its token a form is not read any further.
      if (name === 'csrf' && kind < 0.9) continue;
      if (kind < 0.35) fields.set(name, this.#text());
      else if (kind < 0.4) fields.delete(name);
      else if (kind < 0.45) fields.append(name, this.#text());
    }
    return Buffer.from(fields.toString());
  }

  /** The bytes with some of them replaced, left out, or in twice. */
  #cut(body: Buffer | undefined): Buffer | undefined {
    if (body === undefined) return undefined;
    const at = Math.floor(this.#random() * body.length);
    const to = Math.min(body.length, at + Math.floor(this.#random() * 20));
    const middle = this.#pick([this.#bytes(), Buffer.alloc(0), Buffer.from(this.#text()), body.subarray(at, to)]);
    return Buffer.concat([body.subarray(0, to), middle, body.subarray(this.#random() < 0.5 ? to : at)]);
  }

  /** A tool, with arguments that its schema nearly allows. */
  #call(): FuzzedRequest {
    const [name, schema] = this.#pick([...this.#known.tools]);
    const args = this.#like(schema, 0);
    if (this.#random() < 0.3) return this.#send('POST', `/api/mcp/tools/${name}`, JSON.stringify(args));
    const one = () => ({
      jsonrpc: '2.0',
      id: this.#odd(NESTED_MAX),
      method: 'tools/call',
      params: { name, arguments: args },
    });
    return this.#send('POST', '/api/mcp', JSON.stringify(this.#random() < 0.1 ? [one(), one(), this.#odd(2)] : one()));
  }

  #route(): FuzzedRequest {
    const [method, path] = this.#pick(this.#known.routes);
    const filled = path.replaceAll(/\{[^}]*\}/g, () => this.#segment());
    const body = method === 'GET' || method === 'HEAD' ? undefined : JSON.stringify(this.#odd(0));
    return this.#send(this.#random() < 0.9 ? method : this.#pick(METHODS), `${filled}${this.#query()}`, body);
  }

  #page(): FuzzedRequest {
    const path = `${this.#pick([...PAGES, ...MORE_PAGES])}${this.#random() < 0.4 ? `/${this.#segment()}` : ''}${this.#query()}`;
    const form = this.#random() < 0.4 ? this.#query().slice(1) : undefined;
    return this.#send(form === undefined ? 'GET' : 'POST', path, form, 'application/x-www-form-urlencoded');
  }

  #envelope(): FuzzedRequest {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: this.#pick(RPC_METHODS), params: this.#odd(0) });
    const cut = this.#random() < 0.5 ? text : text.slice(0, Math.floor(this.#random() * text.length));
    return this.#send('POST', this.#pick(['/api/mcp', '/mcp']), this.#random() < 0.2 ? this.#bytes() : cut);
  }

  #send(method: string, path: string, body?: string | Buffer, type = 'application/json'): FuzzedRequest {
    const headers: Record<string, string> = { 'User-Agent': 'fuzz/1' };
    if (body !== undefined) headers['Content-Type'] = this.#random() < 0.95 ? type : this.#pick(TYPES);
    const credential = this.#random();
    if (credential < 0.85) headers['Authorization'] = this.#pick(this.#known.credentials);
    else if (credential < 0.9) headers['Authorization'] = `McpKey ${this.#hex(64)}`;
    else if (credential < 0.95) headers['Cookie'] = `cairn_session=${this.#hex(64)}`;
    if (this.#random() < 0.05) headers['Accept'] = this.#pick(['application/x-ndjson', 'text/html', '*/*;q=0', ',']);
    if (this.#random() < 0.05)
      headers['Range'] = this.#pick(['bytes=0-', 'bytes=-1', 'bytes=5-1', 'bytes=0-0,2-3', 'x']);
    if (this.#random() < 0.05) headers['MCP-Protocol-Version'] = this.#pick(['2025-06-18', '2026-07-28', 'x', '']);
    if (this.#random() < 0.03) headers['Origin'] = this.#pick(['null', 'https://other.example.org', 'x']);
    return { method, path, headers, body: body === undefined ? undefined : Buffer.from(body) };
  }

  /** A value of a JSON schema, wrong in places. */
  #like(schema: Record<string, unknown>, depth: number): unknown {
    if (this.#random() < 0.08) return this.#odd(depth);
    const choices = (schema['anyOf'] ?? schema['oneOf']) as Record<string, unknown>[] | undefined;
    if (choices !== undefined) return this.#like(this.#pick(choices), depth);
    const allowed = schema['enum'] as unknown[] | undefined;
    if (allowed !== undefined) return this.#pick(allowed);
    switch (schema['type']) {
      case 'object': {
        const made: Record<string, unknown> = {};
        const properties = (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>;
        const required = new Set((schema['required'] ?? []) as string[]);
        for (const [name, of] of Object.entries(properties)) {
          if (required.has(name) || this.#random() < 0.3) made[name] = this.#like(of, depth + 1);
        }
        if (this.#random() < 0.05) made[this.#pick(ODD_NAMES)] = this.#odd(depth + 1);
        return made;
      }
      case 'array':
        return Array.from({ length: Math.floor(this.#random() * 4) }, () =>
          this.#like((schema['items'] ?? {}) as Record<string, unknown>, depth + 1),
        );
      case 'boolean':
        return this.#random() < 0.5;
      case 'integer':
      case 'number':
        return Math.floor(this.#random() * 30);
      default:
        return this.#text();
    }
  }

  #odd(depth: number): unknown {
    const kind = this.#random();
    if (kind < 0.3) return this.#text();
    if (kind < 0.5) return this.#pick(ODD_NUMBERS);
    if (kind < 0.6) return this.#pick([null, true, false]);
    if (depth >= NESTED_MAX) return null;
    if (kind < 0.7) return Array.from({ length: Math.floor(this.#random() * 5) }, () => this.#odd(depth + 1));
    const names = Array.from({ length: Math.floor(this.#random() * 5) }, () =>
      this.#random() < 0.2
        ? this.#pick(ODD_NAMES)
        : this.#pick(['content', 'title', 'path', 'id', 'name', 'email', 'password']),
    );
    return Object.fromEntries(names.map((name) => [name, this.#odd(depth + 1)]));
  }

  #text(): string {
    const kind = this.#random();
    if (kind < 0.4) return this.#pick(ODD_TEXTS);
    if (kind < 0.42) return this.#pick(['a', '한', '💣', '\n']).repeat(LONG_CHARS);
    if (kind < 0.6) return String(Math.floor(this.#random() * 20));
    if (kind < 0.7) return this.#hex(this.#pick([24, 40, 64]));
    if (kind < 0.8) return this.#pick(['2026-11-22', '2026-11-22T00:00:00.000Z', '25:00', '0000-00-00']);
    return `f${Math.floor(this.#random() * 50)}.md`;
  }

  #segment(): string {
    const text = this.#text().slice(0, 200);
    return this.#random() < 0.8
      ? encodeURIComponent(text.toWellFormed())
      : this.#pick(['%', '%zz', '..', '.', '%2e%2e%2f', '%ff', '1']);
  }

  #query(): string {
    if (this.#random() < 0.5) return '';
    const names = [
      'limit',
      'cursor',
      'page',
      'q',
      'search',
      'status',
      'per_page',
      'path',
      'seq',
      'folder',
      'after',
      'next',
      'category',
    ];
    const pairs = Array.from(
      { length: 1 + Math.floor(this.#random() * 3) },
      () => `${this.#pick(names)}=${this.#segment()}`,
    );
    return `?${pairs.join('&')}`;
  }

  #bytes(): Buffer {
    return Buffer.from(
      Array.from({ length: Math.floor(this.#random() * 200) }, () => Math.floor(this.#random() * 256)),
    );
  }

  #hex(length: number): string {
    return Array.from({ length }, () => Math.floor(this.#random() * 16).toString(16)).join('');
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}
