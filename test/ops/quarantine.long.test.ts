/** `cairn verify --quarantine`: what is damaged is set aside, so that everything else goes on, and good bytes heal it. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { flip } from '../support/flip.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { listAll, until, verified } from '../support/mirror-state.ts';
import { rowsOf } from '../support/portable.ts';
import { type Device, newDevice } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let hub: Hub;
let laptop: Device;

beforeEach(async () => {
  hub = await startHub();
  laptop = await newDevice(hub);
});
afterEach(() => hub.kill());

interface Pulled {
  readonly total_count: number;
  readonly files: readonly { readonly path: string; readonly content: string }[];
  readonly warnings?: readonly string[];
}

const pullAll = () => laptop.result<Pulled>('sync_pull', { initial: true });
/** The paths that a list shows as quarantined. */
async function marked(): Promise<string[]> {
  const { files } = await laptop.result<{ files: { path: string; quarantined?: true }[] }>('sync_list', {});
  return files.filter(({ quarantined }) => quarantined === true).map(({ path }) => path);
}
const text = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

async function quarantine(): Promise<{
  code: number;
  report: { ok: boolean; set_aside: string[]; problems: string[] };
}> {
  const { code, stdout } = await hub.cli('verify', '--quarantine', '--json');
  return { code, report: JSON.parse(stdout) };
}

test.each([
  ['beside the service', false],
  ['without a service', true],
])(
  '[OPS-10] a vault with damaged files is pulled without them once they are set aside %s',
  async (_where, isStopped) => {
    const files = Array.from({ length: 8 }, (_, index) => [`${index}.md`, text(40_000)] as const);
    for (const [path, content] of files) await laptop.push(path, content);
    await laptop.push('long.md', text(300_000));
    const long = text(400_000);
    await laptop.push('longer.md', long);
    await until('a pack', () => (Number(rowsOf(hub)['sync_packs']) > 0 ? true : undefined));
    const [path, content] = files[2] ?? ['', ''];
    flip(hub.dataFolder, content.slice(300, 364));
    flip(hub.dataFolder, long.slice(300_000, 300_064));
    await expect(pullAll()).rejects.toThrow();
    if (isStopped) await hub.stop();
    const { code, report } = await quarantine();
    expect(report.problems).toEqual([]);
    expect([code, report.ok, report.set_aside.length]).toEqual([0, true, 2]);
    if (isStopped) hub = await startHub({ dataFolder: hub.dataFolder });
    if (isStopped) return;
    expect(await marked()).toEqual([path, 'longer.md'].sort());
    const { files: got, warnings } = await pullAll();
    expect(got.map((file) => file.path).sort()).toEqual(
      [...files.map(([name]) => name), 'long.md'].filter((name) => name !== path).sort(),
    );
    expect(warnings).toEqual([expect.stringMatching(/^2 damaged files are left out: 2\.md, longer\.md; push/)]);
    expect((await laptop.push(path, content)).status).toBe('unchanged');
    expect((await laptop.push('longer.md', long)).status).toBe('unchanged');
    expect(await marked()).toEqual([]);
    const whole = await pullAll();
    expect(whole.files).toHaveLength(10);
    expect(whole.warnings ?? []).toEqual([]);
    expect(whole.files.find((file) => file.path === path)?.content).toBe(content);
    await until('a whole data file', async () => ((await verified(hub)).ok ? true : undefined));
    expect((await quarantine()).report.set_aside).toEqual([]);
  },
);

test('[OPS-10] a damaged blob that is set aside is not the latest, and backup, export and verify say so', async () => {
  const owner = await mirrorAccount(hub);
  const good = randomCommit();
  await upload(hub, owner, good, randomBytes(5000));
  const bytes = randomBytes(300_000);
  const commit = randomCommit();
  await upload(hub, owner, commit, bytes);
  flip(hub.dataFolder, bytes.subarray(1000, 1064));
  expect((await hub.cli('verify')).code).toBe(1);
  const { code, report } = await quarantine();
  expect([code, report.ok]).toEqual([0, true]);
  expect(report.set_aside).toEqual([expect.stringContaining(commit)]);
  expect((await hub.cli('verify')).stdout).toContain('verified, except for 1 damaged contents that are set aside');
  const listed = (await listAll(hub, owner)).map((blob) => [blob.commit_sha, 'quarantined' in blob]);
  expect(listed).toEqual([
    [commit, true],
    [good, false],
  ]);
  const latest = await call(hub, '/api/cert_mirror/latest', { headers: { Authorization: `McpKey ${owner.token}` } });
  expect(latest.json()).toMatchObject({ commit_sha: good });
  await expect(download(hub, owner, commit)).rejects.toThrow();
  const folder = join(temporaryFolder(), 'backup');
  const backup = await hub.cli('backup', folder);
  expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('(set aside)')]);
  expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).damaged).toHaveLength(1);
  const archive = join(temporaryFolder(), 'archive');
  expect((await hub.cli('export', '--email', owner.email, archive)).code).toBe(0);
  expect(readFileSync(join(archive, 'manifest.json'), 'utf8')).toContain(commit);
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  expect((await download(hub, owner, commit)).bytes.equals(bytes)).toBe(true);
  expect(await quarantine()).toMatchObject({ code: 0, report: { ok: true, set_aside: [] } });
});
