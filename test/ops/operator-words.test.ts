/** What a command of the operator says where others are told to ask the operator: what to do. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCairn } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { canUnshare, startHubOnSmallDisk } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MiB = 1024 * 1024;

test.runIf(canUnshare)(
  '[OPS-10] on a full disk the operator is not told to ask the operator, and what is told works: a key, an account, an import',
  async () => {
    const hub = await startHubOnSmallDisk(24);
    const { email } = await account(hub);
    const archive = join(temporaryFolder(), 'archive');
    expect((await hub.cli('export', '--email', email, archive)).code).toBe(0);
    const filler = join(hub.reachedFolder ?? '', 'filler');
    writeFileSync(filler, Buffer.alloc(9 * MiB));
    const commands = [
      ['key', 'create', '--email', email, '--name', 'laptop'],
      ['account', 'create', '--email', 'new@example.org'],
      ['import', archive, '--email', 'other@example.org'],
    ];
    for (const args of commands) {
      expect(await hub.cli(...args)).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'cairn: the disk of CAIRN_DATA is full, so nothing was saved; free some space there, then run the command again.\n',
      });
    }
    rmSync(filler);
    for (const args of commands) expect(await hub.cli(...args)).toMatchObject({ code: 0, stderr: '' });
    await hub.stop();
  },
);

test.runIf(canUnshare)('[OPS-10] the same without a service', async () => {
  const full = temporaryFolder();
  const data = { CAIRN_DATA: join(full, 'data') };
  const script = `mount -t tmpfs -o size=24m tmpfs "${full}" && "$@" > /dev/null && head -c 9m /dev/zero > "${full}/filler" && "$@"x`;
  const create = ['account', 'create', '--email', 'you@example.org'];
  expect(await runCairn(create, data, '', ['unshare', '-rm', 'sh', '-c', script, 'sh'])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('free some space there, then run the command again.\n'),
  });
});
