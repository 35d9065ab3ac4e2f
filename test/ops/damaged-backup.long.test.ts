/** A backup of a hub with a rotten text: it names the damage, exits with a code, and keeps the copies from before. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flip } from '../support/flip.ts';
import { runCairn, startHub } from '../support/hub.ts';
import { Device, newDevice } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('[OPS-25] a text that rots is named by every backup, and no copy from before is removed', async () => {
  const hub = await startHub();
  const device = await newDevice(hub);
  await device.result('create_dev_doc', {
    title: 'a doc',
    category: 'docs',
    content: 'the words of a document that will rot',
  });
  expect((await hub.cli('verify')).code).toBe(0);
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  expect((await hub.cli('backup', '--keep', '1', at('good'))).code).toBe(0);
  expect(await hub.stop()).toBe(0);
  flip(hub.dataFolder, 'words of a document that will rot');
  const env = { CAIRN_DATA: hub.dataFolder };
  for (const name of ['bad', 'worse']) {
    const { code, stderr } = await runCairn(['backup', '--keep', '1', at(name)], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/damaged: version_texts acc_\w+ docs 1 1: the checksum/)]);
    expect(stderr).toMatch(/damaged: page \d+ of table version_texts: its bytes have changed/);
    const { damaged } = JSON.parse(readFileSync(join(at(name), 'manifest.json'), 'utf8')) as { damaged: string[] };
    expect(damaged).toEqual(expect.arrayContaining([expect.stringContaining('version_texts acc_')]));
  }
  expect(readdirSync(folder).sort()).toEqual(['bad', 'good', 'worse']);
  // The hub serves on, without the rotten text.
  const damagedHub = await startHub({ dataFolder: hub.dataFolder });
  await expect(new Device(damagedHub, device.key).result('get_dev_doc', { id: 1 })).rejects.toThrow('damaged');
  expect(await damagedHub.stop()).toBe(0);
  expect(damagedHub.logs).toContainEqual(expect.objectContaining({ damaged: 'row', table: 'version_texts' }));
  // Without the rotten text, backups are good again: the copy from before still counts.
  const restored = temporaryFolder();
  const key = readFileSync(join(hub.dataFolder, 'master.key'), 'utf8').trim();
  const done = await runCairn(['restore', at('good')], { CAIRN_DATA: restored, CAIRN_MASTER_KEY: key });
  expect([done.code, done.stderr]).toEqual([0, expect.stringMatching(/^cairn: \S+\/(bad|worse) beside it is newer, /)]);
  expect((await runCairn(['verify'], { CAIRN_DATA: restored, CAIRN_MASTER_KEY: key })).code).toBe(0);
});
