/** Runs the built hub with its log in a file, as operators do, so that no process parses log lines meanwhile. */
import type { ChildProcess } from 'node:child_process';
import { openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { call } from '../../test/support/http.ts';
import { cleanEnvironment } from '../../test/support/hub.ts';
import type { Account, Credential } from '../../test/support/mirror.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { runProgram, startProgram, stopProgram, waitForPort } from './child.ts';
import { freePort } from './free-port.ts';

const CAIRN = fileURLToPath(new URL('../../src/cli/cairn.js', import.meta.url));

export interface Cairn {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  readonly process: ChildProcess;
  /** Creates an account with a mirror credential. */
  account(): Promise<Credential>;
  /** Stops the hub and removes its data. */
  stop(): Promise<void>;
}

/** Starts the hub on a new data folder. `env`: settings or NODE_OPTIONS. `program`: `cairn.js` of another build. */
export async function startCairn(env: Record<string, string> = {}, program = CAIRN): Promise<Cairn> {
  const folder = temporaryFolder();
  const port = await freePort();
  // Rate limits are off: a load makes more calls per minute than any client.
  const unlimited = { CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0' };
  const settings = { CAIRN_PORT: String(port), CAIRN_DATA: join(folder, 'data'), ...unlimited, ...env };
  const log = openSync(join(folder, 'log'), 'w');
  const child = startProgram(process.execPath, [program, 'serve'], {
    env: cleanEnvironment(settings),
    stdio: ['ignore', log, 'inherit'],
  });
  await waitForPort(port, child);
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    pid: child.pid ?? 0,
    process: child,
    async account() {
      const { CAIRN_DATA } = settings;
      const args = [CAIRN, 'account', 'create', '--email', 'bench@example.org', '--json'];
      const made = JSON.parse(await runProgram(process.execPath, args, cleanEnvironment({ CAIRN_DATA }))) as Account;
      const issued = await call({ url }, '/api/cert_mirror/credentials', {
        method: 'POST',
        headers: { Authorization: `McpKey ${made.mcp_key}`, 'Content-Type': 'application/json' },
        body: '{}',
      });
      if (issued.status !== 200) throw new Error(`no credential: ${issued.text}`);
      return issued.json() as unknown as Credential;
    },
    async stop() {
      await stopProgram(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
