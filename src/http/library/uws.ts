/**
 * Loads uWebSockets.js, the HTTP library: the newer of its two builds if this machine can load it, else the older. Nothing
 * else imports either.
 */
import './settings.ts';
import type * as Library from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { StartError } from '../../common/start-error.ts';

export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';

/** What both builds export and their types omit. */
interface Undeclared {
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly _cfg: (setting: string) => void;
}

/** Why no build loads and what to do, in one sentence for the operator. `glibc`: its version, or undefined elsewhere. */
export function noBuildSentence(version: string, platform: string, arch: string, glibc: string | undefined): string {
  const machine = `${platform} ${arch}${glibc === undefined ? '' : ` with glibc ${glibc}`}`;
  return (
    `the HTTP library has no binary that loads on Node.js ${version} on ${machine}: use Node.js 24, 26 or 22 on Linux x64 ` +
    'with glibc 2.38 or later (Debian 13, Ubuntu 24.04), or Node.js 22 (or 20.19 or later in 20) elsewhere. If cairn was ' +
    'installed with another version of Node.js, install it again; or see "Node.js versions" in `cairn help operating`.'
  );
}

type Build = typeof Library & Undeclared;

async function loadLibrary(): Promise<Build> {
  const causes: unknown[] = [];
  const { version, versions, platform, arch } = process;
  const [major] = versions.node.split('.');
  const loadNewer = () => createRequire(import.meta.url)(`@uwsjs/${platform}-${arch}-${major}`) as Build;
  const loadOlder = async () => (await import('uWebSockets.js')) as unknown as Build;
  for (const load of [loadNewer, loadOlder]) {
    try {
      return await load();
    } catch (cause) {
      causes.push(cause);
    }
  }
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  throw new StartError(noBuildSentence(version, platform, arch, header.glibcVersionRuntime), {
    cause: new AggregateError(causes),
  });
}

export const {
  App,
  SSLApp,
  us_listen_socket_close: closeListener,
  us_socket_local_port: localPortOf,
  LIBUS_LISTEN_EXCLUSIVE_PORT: EXCLUSIVE_PORT,
  _cfg: configure,
} = await loadLibrary();
