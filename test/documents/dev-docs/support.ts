/** Speaks to the tools of documents over the gateway: calls, lines of a listing. */
import { randomBytes } from 'node:crypto';
import { NDJSON, PASSWORD, post, structured, toolRequest, withKey } from '../../support/gateway.ts';
import type { Answer } from '../../support/http.ts';
import type { Hub } from '../../support/hub.ts';

export interface Line {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The lines of an answer as they were sent; throws when the last one is not ended. */
export function recordsOf({ text }: Answer): Line[] {
  if (!text.endsWith('\n')) throw new Error(`the last line is not ended: ${text.slice(-100)}`);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** A pull over the gateway, as lines. */
export function pullLines(hub: Pick<Hub, 'url'>, key: string, args: object = {}, id: unknown = 1): Promise<Answer> {
  return post(hub, toolRequest(id, 'pull_dev_docs', args), { ...withKey(key), Accept: NDJSON });
}

export interface Doc {
  readonly id: number;
  readonly title: string;
  readonly category: string;
  readonly content_type: string;
  readonly version: number;
  readonly size_bytes: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ReadDoc {
  readonly doc: Doc & { readonly content: string };
  readonly current_version: number;
  readonly versions?: readonly { readonly version: number; readonly size_bytes: number; readonly created_at: string }[];
}

export interface DocList {
  readonly docs: readonly Doc[];
  readonly count: number;
  readonly has_more: boolean;
  readonly cursor: string | null;
  readonly complete: boolean;
  readonly looked_at: number;
}

/** The key of a new account, made by the tool, which is quicker than the command line. */
export async function newKey(hub: Pick<Hub, 'url'>): Promise<string> {
  const email = `${randomBytes(6).toString('hex')}@example.org`;
  const made = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', { email, password: PASSWORD });
  return made.mcp_key;
}
