/** cairn compact: offline, and beside the service. */
import { existsSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { dropCopy, makeCopyAside } from '../../src/store/copies/swap.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectKept, keep, sparseFolder } from './sparse.ts';

let hub: Hub | undefined;
afterEach(async () => {
  await hub?.kill();
  hub = undefined;
});

const bytesOf = (folder: string) => statSync(join(folder, 'cairn.mdb')).size;

test('[OPS-11] compact gives free space back, and everything is there', async () => {
  const { folder, kept } = await sparseFolder();
  const before = bytesOf(folder);
  const { code, stdout } = await runCairn(['compact', '--json'], { CAIRN_DATA: folder });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ bytes_before: before, bytes_after: bytesOf(folder), swapped: true });
  expect(bytesOf(folder)).toBeLessThan(before / 4);
  expect((await runCairn(['verify'], { CAIRN_DATA: folder })).code).toBe(0);
  hub = await startHub({ dataFolder: folder });
  await expectKept(hub, kept);
  await keep(hub, kept, 100);
});

test('[OPS-11] beside the service the next start swaps the new file in, with what was written meanwhile', async () => {
  const { folder, kept } = await sparseFolder();
  const before = bytesOf(folder);
  hub = await startHub({ dataFolder: folder });
  const { code, stdout } = await runCairn(['compact'], { CAIRN_DATA: folder });
  expect(code).toBe(0);
  expect(stdout).toContain('Restart the service');
  await keep(hub, kept, 300_000);
  const gone = await hub.cli('key', 'list', '--email', kept.who.email, '--json');
  const keys = (JSON.parse(gone.stdout) as { readonly keys: readonly { readonly key_id: string }[] }).keys;
  expect((await hub.cli('key', 'revoke', '--email', kept.who.email, '--id', keys[0]?.key_id ?? '')).code).toBe(0);
  await hub.kill();
  hub = await startHub({ dataFolder: folder });
  const line = await hub.waitForLog(({ msg }) => msg === 'the data file is compacted');
  expect(Number(line['changed'])).toBeGreaterThan(0);
  expect(bytesOf(folder)).toBeLessThan(before / 4);
  await expectKept(hub, kept);
  const left = JSON.parse((await hub.cli('key', 'list', '--email', kept.who.email, '--json')).stdout) as typeof JSON & {
    readonly keys: readonly { readonly key_id: string; readonly revoked_at?: string | null }[];
  };
  expect(left.keys.filter(({ key_id, revoked_at }) => key_id === keys[0]?.key_id && !revoked_at)).toEqual([]);
  expect((await hub.cli('verify')).code).toBe(0);
  expect(readdirSync(folder).filter((name) => name.startsWith('compact'))).toEqual([]);
});

test('[OPS-11] a copy that is damaged is not used, and where there is no hub compact makes none', async () => {
  const { folder, kept } = await sparseFolder();
  hub = await startHub({ dataFolder: folder });
  expect((await runCairn(['compact'], { CAIRN_DATA: folder })).code).toBe(0);
  truncateSync(join(folder, 'compacted/cairn.mdb'), 9000);
  await hub.kill();
  hub = await startHub({ dataFolder: folder });
  expect(await hub.waitForLog(({ msg }) => String(msg).startsWith('the compacted file is not used'))).toBeDefined();
  await expectKept(hub, kept);
  const empty = temporaryFolder();
  const none = await runCairn(['compact'], { CAIRN_DATA: empty });
  expect(none.code).toBe(1);
  expect(none.stderr).toContain('without a data file');
  expect(existsSync(join(empty, 'cairn.mdb'))).toBe(false);
});

test('[OPS-11] a copy whose folder a start removes while it is made ends with one sentence, and can be made again', async () => {
  const { folder, kept } = await sparseFolder();
  const options = { folder, mapBytes: 2 ** 30 };
  // What a start does with the rest of a copy that was cut off.
  await expect(makeCopyAside({ ...options, onProgress: () => dropCopy(folder) })).rejects.toThrow(
    /^the service was started, or compacted again, while the copy was made; nothing has changed: run `cairn compact` again\.$/,
  );
  expect(readdirSync(folder).filter((name) => name.startsWith('compact'))).toEqual([]);
  expect((await runCairn(['compact'], { CAIRN_DATA: folder })).code).toBe(0);
  hub = await startHub({ dataFolder: folder });
  await expectKept(hub, kept);
});
