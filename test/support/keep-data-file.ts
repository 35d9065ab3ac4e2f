/**
 * Makes the data file that is kept of a released schema: something of every capability, and what it must still answer.
 * `npm run build && node dist/test/support/keep-data-file.js DIR`, with a DIR that does not exist; run it before the schema
 * changes. The keys in it open nothing but that file.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PASSWORD, structured } from './gateway.ts';
import { type Hub, startHub } from './hub.ts';
import { type Account, account, type Credential } from './mirror.ts';
import { listAll, until } from './mirror-state.ts';
import { askDevice, signInDevice } from './oauth.ts';
import { PageClient } from './page-client.ts';
import { fill, restOf, rowsOf, toolsOf } from './portable.ts';
import { Device, sha256Of } from './sync.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The key of every kept file. */
export const KEPT_KEY = '0123456789abcdef'.repeat(4);
const EMAIL = 'kept@example.org';
/** So many files of so many bytes fill a pack of the vault. */
const PACKED_FILES = 8;
const PACKED_BYTES = 50_000;

export interface Kept {
  readonly owner: Account;
  readonly mirror: Credential;
  readonly refresh_token: string;
  readonly subject: string;
  readonly answers: Answers;
}

/** The kept files, by schema. */
export const KEPT = fileURLToPath(new URL('../ops/data-files', import.meta.url));

export interface KeptFile {
  readonly kept: Kept;
  readonly folder: string;
}

/** A data folder with the kept file of a schema. */
export function keptFile(name: string): KeptFile {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'cairn.mdb'), gunzipSync(readFileSync(join(KEPT, name, 'cairn.mdb.gz'))));
  return { kept: JSON.parse(readFileSync(join(KEPT, name, 'kept.json'), 'utf8')) as Kept, folder };
}

/** What an account finds: content by name. */
export interface Answers {
  readonly blobs: readonly (readonly [commitSha: string, sha256: string, uploadedAt: string])[];
  readonly tasks: readonly string[];
  readonly papers: readonly string[];
  readonly docs: Readonly<Record<string, string>>;
  readonly handoffs: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly conflicts: number;
}

interface PulledFile {
  readonly path: string;
  readonly content: string;
  readonly encoding?: 'base64';
}

/** Everything of an account that no later schema may change. */
export async function answersOf(hub: Hub, owner: Account, mirror: Credential): Promise<Answers> {
  const rest = await restOf(hub, owner);
  const tool = toolsOf(hub, owner);
  const { docs } = await tool<{ docs: { id: number; title: string }[] }>('list_dev_docs', { limit: 200 });
  const { handoffs } = await tool<{ handoffs: { project: string; topic: string; date: string }[] }>('handoff_list');
  const { vaults } = await tool<{ vaults: { vault_id: string; name: string }[] }>('vault_list');
  const { data: tasks } = (await rest('GET', '/api/tasks?per_page=100')) as { data: { content: string }[] };
  const { data: papers } = (await rest('GET', '/api/papers?limit=100')) as { data: { title: string }[] };
  const files: Record<string, string> = {};
  let conflicts = 0;
  for (const { vault_id, name } of vaults) {
    const pulled = await tool<{ files: PulledFile[] }>('sync_pull', { vault_id, initial: true });
    for (const { path, content, encoding } of pulled.files) {
      files[`${name}/${path}`] = sha256Of(Buffer.from(content, encoding ?? 'utf8'));
    }
    const pending = await tool<{ conflicts: unknown[] }>('sync_pending_conflicts', { vault_id });
    conflicts += pending.conflicts.length;
  }
  const texts = await Promise.all(
    docs.map(async ({ id, title }) => {
      const { doc } = await tool<{ doc: { content: string } }>('get_dev_doc', { id });
      return [`${id} ${title}`, sha256Of(doc.content)] as const;
    }),
  );
  return {
    blobs: (await listAll(hub, mirror)).map(({ commit_sha, sha256, uploaded_at }) => [commit_sha, sha256, uploaded_at]),
    tasks: tasks.map(({ content }) => content).sort(),
    papers: papers.map(({ title }) => title).sort(),
    docs: Object.fromEntries(texts),
    handoffs: handoffs.map(({ project, topic, date }) => `${project} ${topic} ${date}`).sort(),
    files,
    conflicts,
  };
}

async function make(folder: string): Promise<void> {
  const issuer = { CAIRN_IDP_ISSUER: 'https://idp.example.org', CAIRN_IDP_AUDIENCE: 'kept' };
  const hub = await startHub({ env: { CAIRN_MASTER_KEY: KEPT_KEY, ...issuer } });
  const made = await structured<Account>(hub, 'signup_and_get_key', { email: EMAIL, password: PASSWORD });
  const owner = { ...made, email: EMAIL };
  const mirror = await fill(hub, owner, [1, 65_537]);
  const device = new Device(hub, owner.mcp_key);
  for (let file = 0; file < PACKED_FILES; file += 1) {
    await device.push(`many/${file}.md`, `file ${file}\n`.repeat(PACKED_BYTES / 8));
  }
  const { refresh_token } = await signInDevice(hub, owner, { device_name: 'kept laptop' });
  await askDevice(hub);
  const subject = '248289761001';
  await hub.cli('identity', 'link', '--email', EMAIL, '--subject', subject);
  const browser = new PageClient(hub);
  await browser.open('/signin');
  await browser.submit('/signin', { email: EMAIL, password: PASSWORD });
  // The account of nobody: what is listed must not show it.
  await account(hub, 'other@example.org');
  await until('a pack', () => (Number(rowsOf(hub)['sync_packs']) > 0 ? true : undefined));
  const kept: Kept = { owner, mirror, refresh_token, subject, answers: await answersOf(hub, owner, mirror) };
  await hub.stop();
  const empty = Object.entries(rowsOf(hub)).filter(([, rows]) => rows === 0);
  process.stdout.write(`tables without a row: ${empty.map(([name]) => name).join(', ') || 'none'}\n`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'cairn.mdb.gz'), gzipSync(readFileSync(join(hub.dataFolder, 'cairn.mdb')), { level: 9 }));
  writeFileSync(join(folder, 'kept.json'), `${JSON.stringify(kept, undefined, 2)}\n`);
}

const [, script, target] = process.argv;
if (script?.endsWith('keep-data-file.js') && target !== undefined) await make(resolve(target));
