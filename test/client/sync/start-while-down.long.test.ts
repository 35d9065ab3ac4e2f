/** A watch that is started while its hub is down waits for it, also for a folder that names its vault again. */
import { chmodSync, readdirSync, renameSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startHub } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { syncedFolder, until } from '../../support/synced-folder.ts';

test('[SYN-24] a watch with --vault starts while the hub is down, and syncs once it is back', async () => {
  const port = 12_000 + Math.floor(Math.random() * 18_000);
  const env = { CAIRN_PORT: String(port) };
  const first = await startHub({ env });
  const { mcp_key: key } = await account(first);
  const [a, b] = [syncedFolder(first, key, 'notes'), syncedFolder(first, key, 'notes')];
  a.write('before.md', 'before');
  await a.sync();
  await first.stop();
  const watch = a.watch();
  try {
    const says = (what: string) => watch.output().includes(what);
    await until(() => (says('watching') && says('hub is down')) || watch.hasEnded(), watch.output);
    expect([watch.hasEnded(), watch.output()]).toEqual([false, expect.stringContaining('watching')]);
    // Each save that stood still becomes a version, also of a time without a hub.
    a.write('meanwhile.md', 'first save');
    const hasSave = (count: number) => () => a.has('.cairn/saves') && readdirSync(a.at('.cairn/saves')).length >= count;
    await until(hasSave(2), watch.output);
    a.write('meanwhile.md', 'meanwhile');
    const again = await startHub({ env, dataFolder: first.dataFolder });
    try {
      await until(() => watch.output().includes('meanwhile.md'), watch.output);
      await b.sync();
      expect(b.read('meanwhile.md')).toBe('meanwhile');
      const { vault_id: id } = JSON.parse(a.read('.cairn/state.json')) as { vault_id: string };
      const { stdout } = await a.call('sync_history', '--path=meanwhile.md', `--vault_id=${id}`, '--json');
      expect((JSON.parse(stdout) as { versions: unknown[] }).versions).toHaveLength(2);
    } finally {
      await again.stop();
    }
  } finally {
    await watch.stop();
  }
});

test('[SYN-25] a save is kept under its proper name where the file cannot get that name, since its folder may not be written', async () => {
  const port = 12_000 + Math.floor(Math.random() * 18_000);
  const env = { CAIRN_PORT: String(port) };
  const first = await startHub({ env });
  const { mcp_key: key } = await account(first);
  const a = syncedFolder(first, key, 'notes');
  a.write('closed/before.md', 'before');
  await a.sync();
  await first.stop();
  const [onDisk, name] = ['closed/cafe\u0301.md', 'closed/caf\u00e9.md'];
  a.write(onDisk, 'first save');
  chmodSync(a.at('closed'), 0o555);
  // Nothing keeps root from writing.
  const wrapper = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const watch = a.watch({}, { wrapper });
  onTestFinished(async () => {
    await watch.stop();
    chmodSync(a.at('closed'), 0o755);
  });
  await until(() => a.has('.cairn/saves') && readdirSync(a.at('.cairn/saves')).length >= 2, watch.output);
  a.write(onDisk, 'second save');
  const again = await startHub({ env, dataFolder: first.dataFolder });
  onTestFinished(async () => {
    await again.stop();
  });
  await until(() => watch.output().includes(`${name} is not synced`), watch.output);
  const { vault_id: id } = JSON.parse(a.read('.cairn/state.json')) as { vault_id: string };
  const versions = async () => (await a.call('sync_history', `--path=${name}`, `--vault_id=${id}`, '--json')).stdout;
  await until(async () => (await versions()).includes('"seq"'), watch.output);
}, 120_000);

test('[SYN-25] a folder that is moved away and back while the hub is down is watched again', async () => {
  const port = 12_000 + Math.floor(Math.random() * 18_000);
  const env = { CAIRN_PORT: String(port) };
  const first = await startHub({ env });
  const { mcp_key: key } = await account(first);
  const a = syncedFolder(first, key, 'notes');
  a.write('before.md', 'before');
  const watch = a.watch();
  try {
    await until(() => watch.output().includes('before.md'), watch.output);
    await first.kill();
    // In the pause before the next try nothing looks at the folder.
    await until(() => watch.output().includes('hub is down'), watch.output);
    renameSync(a.folder, `${a.folder}-away`);
    renameSync(`${a.folder}-away`, a.folder);
    const again = await startHub({ env, dataFolder: first.dataFolder });
    try {
      await until(() => watch.output().includes('back') || watch.hasEnded(), watch.output);
      expect(watch.hasEnded()).toBe(false);
      for (const name of ['one.md', 'two.md']) {
        a.write(name, name);
        await until(() => watch.output().includes(name), watch.output);
      }
    } finally {
      await again.stop();
    }
  } finally {
    await watch.stop();
  }
}, 120_000);
