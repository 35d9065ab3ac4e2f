/** Before the first push of a folder: names what a newcomer rarely wants on a hub, and asks a person whether to leave it out. */
import { nextCommand } from '../../client/next-command.ts';
import { formatBytes } from '../../client/progress.ts';
import { quoted, shownLine } from '../../client/shown.ts';
import { type Suggestion, withRules } from '../../client/sync/plan/newcomer.ts';
import type { Replica } from '../../client/sync/replica.ts';
import { surveyFolder } from '../../client/sync/run/survey.ts';
import { RULES_FILE } from '../../client/sync/scan/choice.ts';
import { countWithNoun } from '../../text/count.ts';
import { printError } from '../output.ts';
import { askPerson } from '../secret-input.ts';

/** Asks at a terminal, otherwise says what to do and goes on. */
export async function askBeforeFirstPush({ folder, state }: Replica): Promise<void> {
  const found = await surveyFolder(folder, state.only);
  const isPerson = process.stdin.isTTY && process.stderr.isTTY;
  const rules: string[] = [];
  for (const suggestion of found) {
    const what = `${shownLine(suggestion.rule)} has ${countWithNoun(suggestion.files, 'file')}, ${formatBytes(suggestion.bytes)}.`;
    if (!isPerson) printError(`cairn: ${what} ${adviceOf(folder.root.path, suggestion)}`);
    else if (isYes(await askPerson(`${what} Leave it out? [Y/n] `))) rules.push(suggestion.rule);
  }
  if (rules.length === 0) return;
  const before = folder.read(RULES_FILE);
  const text = withRules(before?.bytes?.toString('utf8') ?? '', rules);
  folder.put(RULES_FILE, Buffer.from(text), before?.sha256);
  printError(`${RULES_FILE} has ${countWithNoun(rules.length, 'rule')} more now; it is synced to all devices.`);
}

/** What a script or a log says: how to leave it out later. */
function adviceOf(root: string, { rule }: Suggestion): string {
  const forget = nextCommand(root, 'sync forget PATH');
  return `It is synced. To leave it out, add the line ${quoted(rule)} to ${RULES_FILE}; \`${forget}\` removes it from the hub.`;
}

const isYes = (answer: string | undefined): boolean => answer !== undefined && /^(y(es)?)?$/i.test(answer);
