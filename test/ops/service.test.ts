/** cairn service: the unit below another root, on a machine without systemd, and started where systemd is said to run. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, runCairn } from '../support/hub.ts';
import { succeeds } from '../support/succeeds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Whether this user may have an /etc and a /run of its own. */
const hasNamespaces = succeeds('unshare', '--mount', 'true');
const isBooted = succeeds('test', '-d', '/run/systemd/system');
const isHidden = [process.execPath, CAIRN].some((path) => /^\/(home|root)\//.test(path));

test.runIf(!isHidden)('[OPS-14] service install --root writes the unit and settings of another machine', async () => {
  const root = temporaryFolder();
  const { code, stdout, stderr } = await runCairn(['service', 'install', '--root', root, '--data', '/srv/my hub'], {});
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('systemctl enable --now cairn');
  const unit = readFileSync(join(root, 'etc/systemd/system/cairn.service'), 'utf8');
  expect(unit).toContain(`${CAIRN} serve\n`);
  expect(unit).toContain('User=cairn\n');
  expect(unit).toContain('Environment="CAIRN_DATA=/srv/my hub"\n');
  expect(unit).toContain('ReadWritePaths="/srv/my hub"\n');
  writeFileSync(join(root, 'etc/cairn.env'), 'CAIRN_SIGNUP=closed\n');
  expect((await runCairn(['service', 'install', '--root', root], {})).code).toBe(0);
  expect(readFileSync(join(root, 'etc/systemd/system/cairn.service'), 'utf8')).toContain('StateDirectory=cairn\n');
  // Settings of an operator outlive a second install.
  expect(readFileSync(join(root, 'etc/cairn.env'), 'utf8')).toBe('CAIRN_SIGNUP=closed\n');
  const removed = await runCairn(['service', 'remove', '--root', root], {});
  expect([removed.code, removed.stdout]).toEqual([0, 'removed; data and settings are still there\n']);
  expect((await runCairn(['service', 'remove', '--root', root], {})).stdout).toContain('no service');
});

test.runIf(!isBooted && !isHidden)('[OPS-14] without systemd, service install says what to do', async () => {
  for (const action of ['install', 'remove']) {
    const { code, stdout, stderr } = await runCairn(['service', action], {});
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^cairn: systemd does not run on this machine; .*`cairn serve`/);
  }
});

test.runIf(hasNamespaces && !isHidden)('[OPS-14] service install makes the user, enables and starts the unit', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  // systemd cannot be started here: its command only writes down what it was asked for.
  writeFileSync(join(folder, 'bin/systemctl'), `#!/bin/sh\necho "$*" >> ${folder}/asked\n`);
  chmodSync(join(folder, 'bin/systemctl'), 0o755);
  const script = `set -e
    cp -a /etc "$1/etc"; mount --bind "$1/etc" /etc
    mount -t tmpfs none /run; mkdir -p /run/systemd/system
    "$2" "$3" service install --json; "$2" "$3" service install --json >/dev/null
    grep '^cairn:' /etc/passwd; cat /etc/systemd/system/cairn.service
    "$2" "$3" service remove; ! test -e /etc/systemd/system/cairn.service`;
  const said = execFileSync('unshare', ['--mount', 'sh', '-c', script, 'sh', folder, process.execPath, CAIRN], {
    encoding: 'utf8',
    env: { ...cleanEnvironment(), PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
  });
  expect(JSON.parse(said.split('\n')[0] ?? '')).toMatchObject({ user: 'cairn', is_started: true });
  expect(said).toMatch(/^cairn:.*:\/usr\/sbin\/nologin$/m);
  expect(said).toContain('ProtectSystem=strict');
  const started = 'daemon-reload\nenable cairn.service\nrestart cairn.service\n';
  expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe(
    `${started}${started}disable --now cairn.service\ndaemon-reload\n`,
  );
});
