/** Prepares one hub for a load: an account with 1,000 tasks, a vault and stored bundles of 64 KiB, 1 and 50 MiB. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { AGENT, call } from '../../test/support/http.ts';
import { runCairn } from '../../test/support/hub.ts';
import { randomCommit, uploadHeaders } from '../../test/support/mirror.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { type Cairn, startCairn } from '../peers/cairn.ts';
import { fillTasks } from '../peers/servers/start.ts';
import { MiB } from '../report.ts';

type Credential = Parameters<typeof uploadHeaders>[0];

export interface Side {
  readonly cairn: Cairn;
  /** Includes the account's MCP key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly accessToken: string;
  readonly credential: Credential;
  /** Commits of the stored bundles, by their bytes. */
  readonly commits: Readonly<Record<'small' | 'middle' | 'large', string>>;
}

const TASKS = 1000;
export const BUNDLE_BYTES = 64 * 1024;
const MIDDLE_BYTES = MiB;
export const LARGE_BYTES = 50 * MiB;
/** Uploads of `LARGE_BYTES` for which a hub has room at once. */
export const LARGE_UPLOADS = 8;

/** Starts and fills a hub; `program`: the `cairn.js` of another build; `env`: settings or NODE_OPTIONS. */
export async function openSide(program?: string, env: Readonly<Record<string, string>> = {}): Promise<Side> {
  const data = { CAIRN_DATA: join(temporaryFolder(), 'data') };
  const room = { CAIRN_INFLIGHT_BYTES: String(LARGE_UPLOADS * LARGE_BYTES) };
  const settings = { ...data, ...room, CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0', CAIRN_LOG_LEVEL: 'warn' };
  const cairn = await startCairn({ ...settings, ...env }, program);
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCairn([...args, '--email', 'load@example.org', '--json'], data);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const { mcp_key: key } = await cli('account', 'create');
  const headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT, 'Content-Type': 'application/json' };
  const { access_token: accessToken = '' } = await cli('token', 'create');
  await fillTasks(cairn, headers, TASKS);
  const issued = await call(cairn, '/api/cert_mirror/credentials', { method: 'POST', headers, body: '{}' });
  const credential = issued.json() as unknown as Credential;
  const store = async (byteSize: number) => {
    const commit = randomCommit();
    const bytes = randomBytes(byteSize);
    const upload = { method: 'POST', headers: uploadHeaders(credential, commit, bytes), body: bytes };
    const stored = await call(cairn, '/api/cert_mirror', upload);
    if (stored.status !== 200) throw new Error(`the bundle was refused: ${stored.text}`);
    return commit;
  };
  const commits = {
    small: await store(BUNDLE_BYTES),
    middle: await store(MIDDLE_BYTES),
    large: await store(LARGE_BYTES),
  };
  return { cairn, headers, accessToken, credential, commits };
}
