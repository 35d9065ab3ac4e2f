/** Runs a hub with one vault full of files, uploaded as by any client: sync_push in batches over HTTP. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT, call } from '../../test/support/http.ts';
import { runCairn } from '../../test/support/hub.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { note } from '../report.ts';
import { type Cairn, startCairn } from './cairn.ts';
import { post, toolCall } from './servers/start.ts';

/** Content bytes per file. */
const FILE_BYTES = 1700;
const FILES_PER_BATCH = 100;
const BATCHES_AT_ONCE = 8;
const CLOCK_START_MS = Date.UTC(2026, 0, 1);
const LINES = 'application/x-ndjson';

export interface VaultHub {
  readonly cairn: Cairn;
  /** Includes the account's key; requests the response as lines. */
  readonly headers: Readonly<Record<string, string>>;
  /** URL of the gateway. */
  readonly url: string;
  /** Body of a call that pulls the whole vault. */
  readonly pull: string;
  readonly files: number;
  /** The data file of the hub. */
  readonly dataFile: string;
  stop(): Promise<void>;
}

/** Starts a hub with `files` files of some 1.7 KB. BENCH_VAULT_FOLDER: keeps the data there for later runs. */
export async function startVaultHub(files: number, env: Readonly<Record<string, string>> = {}): Promise<VaultHub> {
  const kept = process.env['BENCH_VAULT_FOLDER'];
  const folder = kept === undefined ? temporaryFolder() : join(kept, String(files));
  mkdirSync(folder, { recursive: true });
  const data = { CAIRN_DATA: join(folder, 'data') };
  const cairn = await startCairn({ ...data, CAIRN_LOG_LEVEL: 'warn', ...env });
  const keyFile = join(folder, 'key');
  const isFull = existsSync(keyFile);
  const key = isFull ? readFileSync(keyFile, 'utf8') : await makeAccount(data);
  const headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT, Accept: LINES };
  const url = `${cairn.url}/api/mcp`;
  if (!isFull) await fill(url, headers, files);
  writeFileSync(keyFile, key);
  return {
    cairn,
    headers,
    url,
    pull: JSON.stringify(toolCall('sync_pull', { initial: true })),
    files,
    dataFile: join(data.CAIRN_DATA, 'cairn.mdb'),
    async stop() {
      await cairn.stop();
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Pulls the whole vault and checks it: each content by its hash, no file missing (a kept folder may contain more). */
export async function pullVault({ url, headers, pull, files }: VaultHub): Promise<Uint8Array> {
  const { origin, pathname } = new URL(url);
  const fields = { ...headers, 'Content-Type': 'application/json' };
  const answer = await call({ url: origin }, pathname, { method: 'POST', headers: fields, body: pull });
  const paths = new Set<string>();
  for (const line of answer.text.trimEnd().split('\n').slice(1, -1)) {
    const { path, content, sha256 } = JSON.parse(line) as { path: string; content: string; sha256: string };
    if (createHash('sha256').update(content).digest('hex') !== sha256) throw new Error(`${path} has another content`);
    paths.add(path);
  }
  if (answer.status !== 200 || paths.size < files) throw new Error(`a pull gave ${paths.size} files`);
  return answer.bytes;
}

async function makeAccount(env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await runCairn(['account', 'create', '--email', 'vault@example.org', '--json'], env);
  if (code !== 0) throw new Error(`cairn account create failed: ${stderr}`);
  return (JSON.parse(stdout) as { mcp_key: string }).mcp_key;
}

async function fill(url: string, headers: Readonly<Record<string, string>>, files: number): Promise<void> {
  const startMs = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < files) {
      const first = next;
      next = Math.min(files, next + FILES_PER_BATCH);
      const items = Array.from({ length: next - first }, (_, index) =>
        toolCall('sync_push', fileOf(first + index), index),
      );
      const answer = await post(url, { ...headers, Accept: 'application/json' }, JSON.stringify(items));
      if (answer.includes('"error"')) throw new Error(`sync_push was refused: ${answer.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, lane));
  const seconds = (performance.now() - startMs) / 1000;
  note(`${files} files pushed in ${seconds.toFixed(1)} s, ${(files / seconds).toFixed(0)} /s`);
}

/** Returns a file of the load: Markdown, each different, in folders of a hundred. */
function fileOf(index: number): Record<string, unknown> {
  const line = `- entry ${index} of a note with some text in it, and a "quoted" word\n`;
  const content = `# Note ${index}\n\n${line.repeat(Math.ceil(FILE_BYTES / line.length))}`.slice(0, FILE_BYTES);
  return {
    path: `notes/${Math.floor(index / 100)}/note-${index}.md`,
    content,
    sha256: createHash('sha256').update(content).digest('hex'),
    hlc: `${new Date(CLOCK_START_MS + index).toISOString()}-0000-89e4f1c2a0b3d756`,
    device_id: 'bench',
  };
}
