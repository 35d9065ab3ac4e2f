/** A hub that was restored from a backup, and devices that were renewed since: they sign in again, and it is no alarm. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCairn, startHub } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { refresh, refusalOf, signInDevice, tokensOf } from '../support/oauth.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('[KEY-6, OPS-3] a token that was issued after the backup is no replay: the device signs in again, and reads why', async () => {
  const hub = await startHub();
  const owner = await account(hub);
  const [renewed, quiet] = [await signInDevice(hub, owner), await signInDevice(hub, owner)];
  const backup = join(temporaryFolder(), 'backup');
  expect((await hub.cli('backup', backup, '--with-key')).code).toBe(0);
  let last = tokensOf(await refresh(hub, renewed.refresh_token));
  last = tokensOf(await refresh(hub, last.refresh_token));
  await hub.stop();
  const dataFolder = join(temporaryFolder(), 'restored');
  expect((await runCairn(['restore', backup], { CAIRN_DATA: dataFolder })).code).toBe(0);
  const again = await startHub({ dataFolder });
  const refused = await refresh(again, last.refresh_token);
  expect(refusalOf(refused)).toEqual([400, 'invalid_grant']);
  expect(refused.json()['error_description']).toMatch(/restored from a backup.*sign in again/);
  // A device that was not renewed goes on, and from then on a reuse is one.
  const first = tokensOf(await refresh(again, quiet.refresh_token));
  const second = tokensOf(await refresh(again, first.refresh_token));
  expect((await refresh(again, quiet.refresh_token)).json()['error_description']).toContain('used before');
  expect(refusalOf(await refresh(again, second.refresh_token))).toEqual([400, 'invalid_grant']);
  const audit = await again.cli('audit', '--email', owner.email, '--json');
  expect([audit.code, audit.stdout.match(/refresh_token_replayed/g)?.length]).toEqual([0, 1]);
  await again.stop();
});
