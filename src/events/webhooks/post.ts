/**
 * Posts one message to an address that a user chose: only to public addresses unless the operator allows others, at the
 * address that was checked (no second look-up), without following redirects, bounded in time. The answer is not read.
 */
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress, isPublicHost } from '../../common/public-address.ts';
import { NotPublic, publicLookup } from '../../common/public-lookup.ts';
import { version } from '../../common/version.ts';
import { limits } from '../../limits/service.ts';
import type { PostOutcome } from './plan.ts';

/** Where webhooks may be sent: to public addresses over TLS, or anywhere. */
export type WebhookReach = 'public' | 'private';

export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const NOT_PUBLIC = 'its host has an address that is not public';

/** What is wrong with an address, as a sentence; undefined: nothing that can be known without asking for it. */
export function addressFault(text: string, reach: WebhookReach): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'must be an https address';
  if (reach === 'public' && url.protocol !== 'https:') return 'must be an https address';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or a password';
  if (url.hash !== '') return 'must not have a fragment';
  if (reach === 'public' && !isPublicHost(url.hostname))
    return 'must be reachable on the internet; the operator of this hub can allow others with CAIRN_WEBHOOKS=private';
  return undefined;
}

/** Posts. Never rejects. */
export function post({ url: text, headers, body }: WebhookMessage, reach: WebhookReach, signal: AbortSignal) {
  return new Promise<PostOutcome>((done) => {
    const url = new URL(text);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (reach === 'public' && isIP(host) !== 0 && !isPublicAddress(host)) {
      done({ status: null, error: NOT_PUBLIC });
      return;
    }
    const open = url.protocol === 'https:' ? requestTls : requestPlain;
    const late = AbortSignal.timeout(limits.webhookTimeoutMs);
    const sent = open(
      url,
      {
        method: 'POST',
        agent: false,
        signal: AbortSignal.any([late, signal]),
        headers: {
          ...headers,
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(body)),
          'User-Agent': `cairn/${version}`,
        },
        ...(reach === 'private' ? {} : { lookup: publicLookup }),
      },
      (answer) => {
        const { statusCode: status = 0 } = answer;
        answer.destroy();
        done({ status, error: statusFault(status) });
      },
    );
    // After an answer this changes nothing.
    sent.on('error', (error: NodeJS.ErrnoException) => done({ status: null, error: faultOf(error, late.aborted) }));
    sent.end(body);
  });
}

function statusFault(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400)
    return `it redirects (${status}), which is not followed; set the address it leads to`;
  return `it answered ${status}`;
}

/** The message of an error may name what it found inside the network of the hub, so it is not passed on. */
function faultOf(error: NodeJS.ErrnoException, isLate: boolean): string {
  if (isLate) return `it did not answer within ${limits.webhookTimeoutMs / 1000} seconds`;
  if (error instanceof NotPublic) return NOT_PUBLIC;
  return `it cannot be reached (${error.code ?? 'unknown'})`;
}
