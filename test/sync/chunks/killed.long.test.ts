/** A hub that is killed between the steps of a large file keeps what it answered, and nothing else. */
import { expect, test } from 'vitest';
import { startHub } from '../../support/hub.ts';
import { chunksIn, LargeFiles, largeBytes, largeFilesOf, listOf, MiB } from '../../support/large-files.ts';
import { Device, newDevice, sha256Of } from '../../support/sync.ts';

/** When the hub is killed, after the list was sent: while its file is hashed, its chunks counted, the version written. */
const KILLED_AFTER_MS = [0, 40, 80, 140, 250];
/** 352 chunks: six portions. */
const CHUNK_BYTES = MiB / 32;
const env = { CAIRN_RATE_LIMIT: '0' };

test('[SYN-38, OPS-6] a kill while a list is counted or adopted leaves no count behind, and the push can be sent again', async () => {
  let hub = await startHub({ env });
  const { key } = await newDevice(hub);
  let large = await largeFilesOf(new Device(hub, key));
  const bytes = largeBytes(11);
  for (const chunk of chunksIn(bytes, CHUNK_BYTES)) expect((await large.put(chunk)).status).toBe(200);
  const list = listOf(chunksIn(bytes, CHUNK_BYTES));
  for (const [round, killedAfterMs] of KILLED_AFTER_MS.entries()) {
    const args = { ...large.pushOf(`${round}.bin`, bytes, { content: list }), vault_id: large.vaultId };
    const pushed = large.device.result('sync_push', args).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setTimeout(resolve, killedAfterMs));
    await hub.kill();
    const isAnswered = await pushed;
    hub = await startHub({ env, dataFolder: hub.dataFolder });
    large = new LargeFiles(new Device(hub, key), large.vaultId);
    const { files } = await large.device.result<{ files: { path: string }[] }>('sync_list', {});
    if (isAnswered) expect(files.map(({ path }) => path)).toContain(`${round}.bin`);
    const verified = await hub.cli('verify', '--json');
    expect(JSON.parse(verified.stdout)).toMatchObject({ problems: [], staged_contents: 0 });
  }
  const args = large.pushOf('last.bin', bytes, { content: list });
  await large.device.result('sync_push', { ...args, vault_id: large.vaultId });
  expect(sha256Of(await large.read('last.bin'))).toBe(sha256Of(bytes));
  expect(await hub.stop()).toBe(0);
});
