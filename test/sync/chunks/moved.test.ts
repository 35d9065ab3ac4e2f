/** Large files leave the hub by its pages and its archives, and come back from an archive as they were. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { LargeFiles, largeBytes, largeFilesOf, MiB } from '../../support/large-files.ts';
import { PageClient } from '../../support/page-client.ts';
import { exported, imported, linesOf } from '../../support/portable.ts';
import { Device, sha256Of } from '../../support/sync.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub, withHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true });
const EMAIL = 'large@example.org';

test('[SYN-38] a page downloads a large file, and export, plain export and import have it whole, its chunks once', async () => {
  const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', {
    email: EMAIL,
    password: PASSWORD,
  });
  const large = await largeFilesOf(new Device(hub, key));
  const one = largeBytes(11);
  const two = Buffer.concat([largeBytes(1), one.subarray(MiB)]);
  const first = await large.push('films/one.mp4', one);
  await large.push('films/one.mp4', two, { base_sha: first.sha256 });
  await large.push('copy.mp4', two);

  const page = new PageClient(hub);
  await page.open('/signin');
  await page.submit('/signin', { email: EMAIL, password: PASSWORD });
  const whole = await page.open(`/vaults/${large.vaultId}/bytes?path=films/one.mp4`);
  expect(whole.bytes.equals(two)).toBe(true);
  const earlier = await page.open(`/vaults/${large.vaultId}/bytes?path=films/one.mp4&seq=${first.seq}`);
  expect(earlier.bytes.equals(one)).toBe(true);
  expect((await page.open(`/vaults/${large.vaultId}/file?path=films/one.mp4`)).text).toContain('Download');
  const tar = await page.open(`/vaults/${large.vaultId}/tar?folder=films`);
  expect(tar.bytes.indexOf(two.subarray(0, 64))).toBe(512);

  const { folder, manifest } = await exported(hub, EMAIL);
  expect(manifest).toMatchObject({ blobs: { count: 12, bytes: 12 * MiB } });
  expect(linesOf(folder, 'vaults').filter(({ encoding }) => encoding === 'chunks')).toHaveLength(3);
  const plain = join(temporaryFolder(), 'plain');
  expect(await hub.cli('export', '--email', EMAIL, '--plain', plain)).toMatchObject({ code: 0 });
  await withHub({}, async (other) => {
    const back = new LargeFiles(new Device(other, (await imported(other, folder)).mcp_key), large.vaultId);
    expect((await back.read('films/one.mp4')).equals(two)).toBe(true);
    await back.device.result('sync_restore', { path: 'films/one.mp4', seq: first.seq });
    expect(sha256Of(await back.read('films/one.mp4'))).toBe(first.sha256);
    expect((await other.cli('verify', '--json')).stdout).toContain('"ok":true');
  });
  expect(readFileSync(join(plain, 'files', 'primary', 'copy.mp4')).equals(two)).toBe(true);
});
