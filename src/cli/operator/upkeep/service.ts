/** cairn service install and remove: manages the hub as a systemd service of this machine. */

import { resolve } from 'node:path';
import { installService, removeService } from '../../../ops/service/install.ts';
import { SERVICE_USER, STATE_FOLDER } from '../../../ops/service/unit.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { printResult, table } from '../../output.ts';
import { ownCommand } from '../../own-command.ts';

export const serviceCommands: readonly Command[] = [
  {
    name: 'service install',
    summary: 'run this hub as a systemd service: its user, its unit, started now and at each boot',
    options: [takes('user', 'NAME'), takes('data', 'DIR'), takes('root', 'DIR')],
    explains: {
      user: `whom it runs as, made if there is none; default ${SERVICE_USER}`,
      data: `its data folder, which the user must be able to write to; default ${STATE_FOLDER}`,
      root: 'write below this folder, for an image of another machine, and start nothing',
    },
    examples: ['sudo cairn service install', 'sudo cairn service install --user hub --data /srv/hub'],
    run: install,
  },
  {
    name: 'service remove',
    summary: 'stop the systemd service and remove its unit; data and settings stay',
    options: [takes('root', 'DIR')],
    explains: { root: 'remove it below this folder' },
    examples: ['sudo cairn service remove'],
    run: remove,
  },
];

async function install(options: Options): Promise<number> {
  const dataFolder = resolve(options.optional('data') ?? STATE_FOLDER);
  const root = options.optional('root');
  const { unit, settings, user, isStarted } = installService({
    command: ownCommand(),
    user: options.optional('user') ?? SERVICE_USER,
    dataFolder,
    root: root === undefined ? undefined : resolve(root),
  });
  const rows = [
    ['unit', unit],
    ['settings', settings],
    ['user', user],
    ['data', dataFolder],
  ] as const;
  const next = isStarted
    ? 'started; its log: journalctl -u cairn'
    : 'written; start it there: systemctl enable --now cairn';
  return printResult(options, { unit, settings, user, is_started: isStarted }, () => `${table(rows)}\n\n${next}`);
}

async function remove(options: Options): Promise<number> {
  const root = options.optional('root');
  const was = removeService(root === undefined ? undefined : resolve(root));
  return printResult(options, { removed: was }, () =>
    was ? 'removed; data and settings are still there' : 'there is no service to remove',
  );
}
