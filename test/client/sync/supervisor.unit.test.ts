/** What each system is asked to keep running: the files and calls of systemd, launchd and the Task Scheduler. */
import { expect, test } from 'vitest';
import { type Supervised, supervisorOf } from '../../../src/client/sync/service/supervisor.ts';

const here: Omit<Supervised, 'platform'> = {
  home: '/home/ann lee',
  configFolder: '/home/ann lee/.config',
  uid: 501,
  command: ['/opt/node 26/bin/node', '/opt/100% & more/cairn.js'],
  environment: { XDG_CONFIG_HOME: '/home/ann lee/.config' },
};

test('[SYN-37] systemd gets a user unit that restarts the watch, and starts it now and at each sign-in', () => {
  const { file, text, starts, stops, asks } = supervisorOf({ ...here, platform: 'linux' }) ?? {};
  expect(file).toBe('/home/ann lee/.config/systemd/user/cairn-sync.service');
  expect(text).toContain('ExecStart="/opt/node 26/bin/node" "/opt/100%% & more/cairn.js" sync watch --all\n');
  expect(text).toContain('Environment="XDG_CONFIG_HOME=/home/ann lee/.config"\n');
  expect(text).toContain('Restart=on-failure\n');
  expect(text).toContain('WantedBy=default.target\n');
  const said = (calls: typeof starts) => calls?.map(({ program, args }) => [program, ...args].join(' '));
  expect(said(starts)).toEqual([
    'systemctl --user daemon-reload',
    'systemctl --user enable cairn-sync.service',
    'systemctl --user restart cairn-sync.service',
  ]);
  expect(said(stops)).toEqual(['systemctl --user disable --now cairn-sync.service']);
  expect(asks?.args).toContain('is-active');
});

test('[SYN-37] launchd gets an agent with every word in a string of its own', () => {
  const { file, text, starts, stops, asks } = supervisorOf({ ...here, platform: 'darwin' }) ?? {};
  expect(file).toBe('/home/ann lee/Library/LaunchAgents/org.cairn.sync.plist');
  const words = [...(text ?? '').matchAll(/^ {4}<string>(.*)<\/string>$/gm)].map(([, word]) => word);
  expect(text).toContain('<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>');
  expect(words).toEqual(['/opt/node 26/bin/node', '/opt/100% &amp; more/cairn.js', 'sync', 'watch', '--all']);
  expect(starts?.map(({ args, mayFail }) => [args[0], mayFail === true])).toEqual([
    ['bootout', true],
    ['bootstrap', false],
  ]);
  expect(stops?.map(({ args }) => args)).toEqual([['bootout', 'gui/501/org.cairn.sync']]);
  expect(asks?.args).toEqual(['print', 'gui/501/org.cairn.sync']);
});

test('[SYN-37] Windows gets a task in UTF-16 that starts at each sign-in and without a limit of time', () => {
  const task = supervisorOf({
    ...here,
    platform: 'win32',
    command: ['C:\\Program Files\\nodejs\\node.exe', 'C:\\cairn\\cairn.js'],
  });
  expect(task?.encoding).toBe('utf16le');
  expect(task?.text.startsWith('\ufeff<?xml version="1.0" encoding="UTF-16"?>')).toBe(true);
  expect(task?.text).toContain('<Command>C:\\Program Files\\nodejs\\node.exe</Command>');
  expect(task?.text).toContain('<Arguments>C:\\cairn\\cairn.js sync watch --all</Arguments>');
  expect(task?.text).toContain('<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>');
  expect(task?.starts.map(({ args }) => args[0])).toEqual(['/Create', '/Run']);
});

test('[SYN-37] another system has no service manager that is known', () => {
  expect(supervisorOf({ ...here, platform: 'freebsd' })).toBeUndefined();
});
