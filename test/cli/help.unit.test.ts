/** The help of every command: what it says follows from the declaration. */
import { expect, test } from 'vitest';
import { loadGroups } from '../../src/cli/commands.ts';
import { commandHelp, overview } from '../../src/cli/help.ts';

test('[CLI-1] the help names every command, and each tells its own options with examples that call it', async () => {
  const groups = await loadGroups();
  const commands = groups.flatMap((group) => group.commands);
  expect(commands.length).toBeGreaterThan(30);
  for (const command of commands) {
    const { name, summary, options = [], flags = [] } = command;
    const [synopsis = '', , told = ''] = commandHelp(command).split('\n');
    expect(synopsis).toMatch(new RegExp(`^cairn ${name} .*\\[--json\\]`));
    expect(told).toBe(summary);
    expect(overview(groups)).toMatch(new RegExp(`^  cairn ${name} +\\S`, 'm'));
    for (const option of [...options.map((one) => one.name), ...flags, 'json']) {
      expect(synopsis).toContain(`--${option}`);
      expect(commandHelp(command)).toMatch(new RegExp(`^  --${option}( \\S+)? {2,}\\S`, 'm'));
    }
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) expect(example).toContain(`cairn ${name}`);
  }
});
