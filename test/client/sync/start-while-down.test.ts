/** A watch that is started while its hub is down waits for it, also for a folder that names its vault again. */
import { expect, test } from 'vitest';
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
    await until(() => watch.output().includes('Waiting for it') || watch.hasEnded());
    expect([watch.hasEnded(), watch.output()]).toEqual([false, expect.stringContaining('Waiting for it')]);
    a.write('meanwhile.md', 'meanwhile');
    const again = await startHub({ env, dataFolder: first.dataFolder });
    try {
      await until(() => watch.output().includes('meanwhile.md'), watch.output);
      await b.sync();
      expect(b.read('meanwhile.md')).toBe('meanwhile');
    } finally {
      await again.stop();
    }
  } finally {
    await watch.stop();
  }
});
