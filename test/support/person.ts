/** Somebody who uses a hub: an account with its keys, what it writes, and everything that it finds there. */
import { randomBytes } from 'node:crypto';
import { accessToken, mirrorTool } from './gateway.ts';
import { type Answer, call } from './http.ts';
import type { Hub } from './hub.ts';
import type { Ledger, Write } from './ledger.ts';
import { account, type Credential, credential, uploadHeaders } from './mirror.ts';
import { listAll } from './mirror-state.ts';

/** Where the hub is now: another process after each restart. */
export interface Place {
  hub: Hub;
}

/** The hub was there and gave an answer that it must not give. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

/** What a hub may answer instead of doing what was asked, without having done anything. */
const REFUSED_FOR_NOW = new Set([429, 503]);

interface Made {
  readonly email: string;
  readonly key: string;
  readonly mirror: Credential;
  readonly token: string;
}

export class Person {
  readonly place: Place;
  readonly ledger: Ledger;
  readonly name: string;
  readonly email: string;
  readonly key: string;
  readonly mirror: Credential;
  /** Lives for an hour; the runs are shorter. */
  readonly #token: string;

  private constructor(place: Place, ledger: Ledger, made: Made) {
    this.place = place;
    this.ledger = ledger;
    this.email = made.email;
    this.name = made.email.split('@')[0] ?? '';
    this.key = made.key;
    this.mirror = made.mirror;
    this.#token = made.token;
  }

  static async arrive(place: Place, ledger: Ledger): Promise<Person> {
    const email = `p${randomBytes(4).toString('hex')}@example.org`;
    const { mcp_key: key } = await account(place.hub, email);
    const mirror = await credential(place.hub, key);
    return new Person(place, ledger, { email, key, mirror, token: await accessToken(place.hub, email) });
  }

  /**
   * Writes one thing: asks, and acknowledges in the ledger when the answer says so. Gives the answer, or undefined when
   * the hub had no time. Rejects with WrongAnswer, or with what a connection breaks off with.
   */
  async write(
    thing: string,
    value: string | null,
    send: (headers: Record<string, string>) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const write: Write = this.ledger.ask(thing, value);
    const answer = await send({ 'X-Request-Id': write.id });
    if (answer.status === 200) {
      this.ledger.acknowledge(write);
      return answer;
    }
    if (!REFUSED_FOR_NOW.has(answer.status)) {
      throw new WrongAnswer(
        `${thing} to ${value ?? 'nothing'} was answered ${answer.status} ${answer.text.slice(0, 200)}`,
      );
    }
    return undefined;
  }

  upload(commit: string, bytes: Uint8Array, headers: Record<string, string>): Promise<Answer> {
    return call(this.place.hub, '/api/cert_mirror', {
      method: 'POST',
      headers: { ...uploadHeaders(this.mirror, commit, bytes), ...headers },
      body: bytes,
    });
  }

  tool(name: string, args: object, headers: Record<string, string> = {}): Promise<Answer> {
    return mirrorTool(this.place.hub, name, args, { Authorization: `McpKey ${this.key}`, ...headers });
  }

  /** Everything that this person wrote and the hub shows, as the ledger names it. */
  async findAll(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const { commit_sha, sha256 } of await listAll(this.place.hub, this.mirror)) {
      found.set(`blob ${this.name} ${commit_sha}`, sha256);
    }
    for (const content of await this.#tasks()) found.set(`task ${this.name} ${content.split(' ')[0]}`, content);
    for (const { path, sha256 } of await this.#files()) found.set(`file ${this.name} ${path}`, sha256);
    return found;
  }

  async #tasks(): Promise<string[]> {
    const headers = { Authorization: `Bearer ${this.#token}` };
    const tasks: string[] = [];
    for (let page = 1; ; page += 1) {
      const answer = await call(this.place.hub, `/api/tasks?per_page=100&page=${page}`, { headers });
      if (answer.status !== 200) throw new WrongAnswer(`the tasks were answered ${answer.status} ${answer.text}`);
      const { data, meta } = answer.json() as unknown as {
        readonly data: readonly { readonly content: string }[];
        readonly meta: { readonly total_pages: number };
      };
      tasks.push(...data.map(({ content }) => content));
      if (page >= meta.total_pages) return tasks;
    }
  }

  async #files(): Promise<{ readonly path: string; readonly sha256: string }[]> {
    const files: { readonly path: string; readonly sha256: string }[] = [];
    for (let cursor: string | null = null; ; ) {
      const answer: Answer = await this.tool('sync_list', cursor === null ? {} : { cursor });
      const page = answer.json() as unknown as { readonly files: typeof files; readonly cursor: string | null };
      files.push(...page.files);
      cursor = page.cursor;
      if (cursor === null) return files;
    }
  }
}
