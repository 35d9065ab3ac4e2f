/** cairn undo: takes back all that a key, device or app did since a time. */
import { type Command, type Options, takes } from '../../command.ts';
import { TIME_FORMS } from '../../dates/when.ts';
import { print } from '../../output.ts';
import { UsageError } from '../../usage-error.ts';
import { spanOf } from './activity.ts';
import { given, runToolCommand, SERVER } from './tool-call.ts';

export const undoCommand: Command = {
  name: 'undo',
  summary: 'take back what a key, device or app did since a time; shows it first, --yes does it',
  operands: ['[ID]'],
  options: [takes('by', 'NAME'), takes('since', 'TIME'), takes('until', 'TIME'), SERVER],
  flags: ['yes'],
  explains: {
    ID: 'only this task, document, file or folder, as `cairn activity` shows it',
    by: 'whose changes, as `cairn activity` names them; default: yours',
    since: `from when on: ${TIME_FORMS}`,
    until: 'up to when',
    yes: 'do it; what somebody else changed since is left',
  },
  examples: [
    'cairn undo --by claude --since 2h',
    'cairn undo --by claude --since 2h --yes',
    "cairn undo cairn://tasks/7 --by claude --since 'yesterday 18:00'",
  ],
  run: undo,
};

async function undo(options: Options): Promise<number> {
  const span = spanOf(options);
  if (span['since'] === undefined) throw new UsageError('--since is required: from when on changes are taken back');
  const isDone = options.flag('yes');
  const args = { ...given('id', options.operand()), ...span, ...given('dry_run', isDone ? undefined : true) };
  const code = await runToolCommand(options, 'restore', args);
  if (!isDone && !options.json) print('Nothing was changed. Add --yes to do it.');
  return code;
}
