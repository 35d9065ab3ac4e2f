/** Serves the client in one file: the commands for backups and sign-in, for machines that have Node.js and nothing else. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Refusal } from '../common/fault.ts';
import { bytes } from '../http/reply/reply.ts';
import type { Route } from '../http/route/route.ts';

/** Written by the build. */
const FILE = new URL('./client/cairn.mjs', import.meta.url);

/** The file is read when it is first asked for, and kept. */
export function clientFileRoute(): Route {
  let kept: { readonly whole: Buffer; readonly etag: string } | undefined;
  const read = () => {
    if (!existsSync(FILE)) throw new Refusal({ kind: 'not_found', what: 'this hub was built without the client file' });
    const whole = readFileSync(FILE);
    return { whole, etag: `"${createHash('sha256').update(whole).digest('hex')}"` };
  };
  return {
    method: 'GET',
    path: '/client/cairn.mjs',
    access: 'open',
    body: { kind: 'none' },
    doc: 'page',
    handle() {
      kept ??= read();
      return bytes(200, kept.whole, {
        'Content-Type': 'text/javascript; charset=utf-8',
        'Cache-Control': 'no-cache',
        ETag: kept.etag,
      });
    },
  };
}
