/** Serves the client in one file: the commands for backups and sign-in, for machines that have Node.js and nothing else. */
import { existsSync, readFileSync } from 'node:fs';
import { Refusal } from '../common/fault.ts';
import { KeptFile } from '../http/route/kept-file.ts';
import type { Route } from '../http/route/route.ts';

/** Written by the build. */
const FILE = new URL('./client/cairn.mjs', import.meta.url);
const HEADERS = { 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' };

/** The file is read when it is first asked for, and kept. */
export function clientFileRoute(): Route {
  let kept: KeptFile | undefined;
  const read = () => {
    if (!existsSync(FILE)) throw new Refusal({ kind: 'not_found', what: 'this hub was built without the client file' });
    return new KeptFile(readFileSync(FILE), HEADERS);
  };
  return {
    method: 'GET',
    path: '/client/cairn.mjs',
    access: 'open',
    body: { kind: 'none' },
    doc: 'page',
    async handle(request) {
      kept ??= read();
      return await kept.reply(request);
    },
  };
}
