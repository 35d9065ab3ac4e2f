/** Speaks to the tools of documents over the gateway: calls, lines of a listing. */
import { NDJSON, post, toolRequest, withKey } from '../support/gateway.ts';
import type { Answer } from '../support/http.ts';
import type { Hub } from '../support/hub.ts';

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
