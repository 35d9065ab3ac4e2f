/** Hubs and members to compare: without a log, and with each engine of one. Their stores are servers of this machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setup } from '../../test/support/global-setup.ts';
import { AGENT, call } from '../../test/support/http.ts';
import { runCairn } from '../../test/support/hub.ts';
import type { Account, Credential } from '../../test/support/mirror.ts';
import { postgresPrograms, startPostgres } from '../../test/support/postgres-server.ts';
import { hasRgw, useRgw } from '../../test/support/rgw.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { type Cairn, startCairn } from '../peers/cairn.ts';
import { MissingTool } from '../report.ts';

export type LogSettings = Readonly<Record<string, string>>;

const MASTER_KEY = '5a'.repeat(32);
let names = 0;

/** The stores of logs, each with the settings of a new log in it. `end` stops their servers. */
export async function startStores() {
  const end = setup();
  if (!hasRgw) throw new MissingTool('radosgw', 'ceph-mon ceph-osd ceph-common radosgw');
  if (postgresPrograms === undefined) throw new MissingTool('postgres', 'postgresql');
  const [rgw, postgres] = [await useRgw(), await startPostgres()];
  const name = () => {
    names += 1;
    return `bench${names}`;
  };
  const shared = (log: string): LogSettings => ({ CAIRN_LOG: log, CAIRN_MASTER_KEY: MASTER_KEY });
  return {
    endpoint: rgw.endpoint,
    folder: (): LogSettings => shared(`file://${temporaryFolder()}/log`),
    bucket: (endpoint = rgw.endpoint): LogSettings => ({
      ...rgw.env,
      AWS_ENDPOINT_URL: endpoint,
      ...shared(`s3://logs/${name()}`),
    }),
    postgres: (): LogSettings => shared(`${postgres.url}?cell=${name()}`),
    end,
  };
}

export type Stores = Awaited<ReturnType<typeof startStores>>;

export interface BenchHub {
  readonly cairn: Cairn;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: Credential;
}

/** Starts a hub or a member, with one account. */
export async function startBenchHub(settings: LogSettings): Promise<BenchHub> {
  const CAIRN_DATA = `${temporaryFolder()}/data`;
  // A machine that other work keeps busy is not a hub that is overloaded.
  const cairn = await startCairn({ CAIRN_DATA, CAIRN_LOG_LEVEL: 'warn', CAIRN_LOOP_DELAY_MS: '0', ...settings });
  await untilReady(cairn);
  const made = await runCairn(['account', 'create', '--email', 'bench@example.org', '--json'], { CAIRN_DATA });
  if (made.code !== 0) throw new Error(made.stderr);
  const { mcp_key: key } = JSON.parse(made.stdout) as Account;
  const headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT };
  const issued = await call(cairn, '/api/cert_mirror/credentials', {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: '{}',
  });
  if (issued.status !== 200) throw new Error(issued.text);
  return { cairn, headers, credential: issued.json() as unknown as Credential };
}

/** Resolves with the milliseconds until a hub serves. */
export async function untilReady({ url }: Pick<Cairn, 'url'>, seconds = 120): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const isReady = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2000) }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isReady) return performance.now() - startMs;
    if (performance.now() - startMs > seconds * 1000) throw new Error(`${url} does not serve`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A member without an account. */
export interface Member {
  readonly name: string;
  readonly data: string;
  cairn: Cairn;
}

export async function startMember(
  name: string,
  settings: LogSettings,
  data = `${temporaryFolder()}/data`,
): Promise<Member> {
  const own = { CAIRN_DATA: data, CAIRN_MEMBER: name, CAIRN_LOG_LEVEL: 'warn' };
  return { name, data, cairn: await startCairn({ ...own, ...settings }) };
}

/** Resolves with the milliseconds until a member has a state. */
export async function untilState({ cairn }: Pick<Member, 'cairn'>, state: string): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const health = await fetch(`${cairn.url}/health`).then((answer) => answer.json());
    if ((health as { member?: { state: string } }).member?.state === state) return performance.now() - startMs;
    await sleep(10);
  }
}
