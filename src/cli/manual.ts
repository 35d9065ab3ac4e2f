/** cairn help: prints the list of commands, a manual topic, or the help of a command or setting. */
import { isTopic, newestNews, readTopic, topicNames } from '../common/manual.ts';
import { nearest } from '../text/nearest.ts';
import type { Command, CommandGroup } from './command.ts';
import { commandHelp, overview } from './help.ts';
import { commandWord, meantCommand } from './meant.ts';
import { print } from './output.ts';
import { UsageError } from './usage-error.ts';

/** The help command. `loadGroups` loads every command, for the list and for the help of one command. */
export function helpCommand(loadGroups: () => Promise<readonly CommandGroup[]>): Command {
  return {
    name: 'help',
    summary: 'print a topic of the manual, a command or a setting; without a name, list them',
    operands: ['[TOPIC]', '[SUBCOMMAND]'],
    completes: { TOPIC: topicNames },
    examples: ['cairn help', 'cairn help sync', 'cairn help backups push', 'cairn help CAIRN_PORT'],
    async run(options) {
      const words = [options.operand(0), options.operand(1)].filter((word) => word !== undefined);
      print(await textFor(words.join(' '), loadGroups));
      return 0;
    },
  };
}

/** cairn news: what is new in the newest version, from the manual. */
export const newsCommand: Command = {
  name: 'news',
  summary: 'print what is new in the newest version',
  examples: ['cairn news'],
  run() {
    print(newestNews());
    return Promise.resolve(0);
  },
};

async function textFor(name: string, loadGroups: () => Promise<readonly CommandGroup[]>): Promise<string> {
  if (isTopic(name)) return readTopic(name).text;
  if (/^cairn_/i.test(name)) return await aboutSetting(name.toUpperCase());
  const groups = await loadGroups();
  if (name === '') return overview(groups);
  const commands = groups.flatMap((group) => group.commands);
  const [first = '', ...rest] = name.split(' ');
  const full = [commandWord(first), ...rest].join(' ');
  const command = commands.find((one) => one.name === full);
  if (command !== undefined) return commandHelp(command);
  const group = commands.filter((one) => one.name.startsWith(`${full} `));
  if (group.length > 0) return group.map(({ name: one, summary }) => `cairn ${one}\n  ${summary}`).join('\n');
  const names = commands.map((one) => one.name);
  const guess = meantCommand(name.split(' '), names) ?? nearest(name, [...topicNames, ...names]);
  throw new UsageError(
    `there is no topic or command ${name}${guess === undefined ? '' : `; did you mean \`cairn help ${guess}\`?`}`,
  );
}

async function aboutSetting(name: string): Promise<string> {
  const { settingLine, settingNames } = await import('../settings/page.ts');
  const line = settingLine(name);
  if (line !== undefined) return line;
  const guess = nearest(name, settingNames);
  throw new UsageError(`there is no setting ${name}${guess === undefined ? '' : `; did you mean ${guess}?`}`);
}
