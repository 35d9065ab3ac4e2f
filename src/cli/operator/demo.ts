/** cairn demo: a hub in a temporary folder with a household's data, in which an agent works while one watches. */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, type Options, takes } from '../command.ts';
import { written } from '../dates/due-date.ts';
import { DemoHub } from '../demo/hub.ts';
import { AGENT, beginning, PERSON, PHONE, session } from '../demo/story.ts';
import { tell } from '../demo/tell.ts';
import { print } from '../output.ts';
import { toldToEnd } from '../process.ts';
import { UsageError } from '../usage-error.ts';
import { passwordHashOf } from './account.ts';

/** Long enough to see what changed. */
const PAUSE_SECONDS = 4;

export const demoCommand: Command = {
  name: 'demo',
  summary: 'show a hub with data in it and an agent at work, in a temporary folder',
  options: [takes('port', 'PORT'), takes('pause', 'SECONDS')],
  explains: {
    port: 'port of the hub; default: a free one',
    once: 'end when the agent has finished',
    pause: `seconds between the steps of the agent; default ${PAUSE_SECONDS}`,
  },
  flags: ['once'],
  examples: ['cairn demo', 'cairn demo --port 8788'],
  run,
};

async function run(options: Options): Promise<number> {
  const port = numberOf(options, 'port', 0, 65_535);
  const seconds = numberOf(options, 'pause', PAUSE_SECONDS, 3600);
  // Also as the terminal closes: the hub itself goes on after SIGHUP.
  const ended = toldToEnd();
  print('Making a hub with examples…');
  const hub = await DemoHub.start(port);
  try {
    const password = randomBytes(6).toString('hex');
    const keys = await fill(hub, password);
    print(`
Open      ${hub.url}/signin
Email     ${PERSON.email}
Password  ${password}

An agent works now. Keep Tasks or Activity open and watch. Ctrl-C ends the demo and removes its data.
`);
    for (const step of session(today())) {
      await pause(seconds * 1000, undefined, { signal: ended });
      await tell(hub.url, keys, step);
      print(`  ${AGENT} ${step.says}`);
    }
    print(`\nThe agent has finished. Activity shows what it did, and takes it back.`);
    if (!options.flag('once') && !ended.aborted) await Promise.race([hub.ended(), once(ended, 'abort')]);
  } catch (error) {
    if (!ended.aborted) throw error;
  } finally {
    await hub.stop();
  }
  return 0;
}

/** Makes the account and everything in it. Returns the keys by who uses them. */
async function fill(hub: DemoHub, password: string): Promise<Record<typeof AGENT | typeof PHONE, string>> {
  const { email, name } = PERSON;
  await hub.control({ command: 'account.create', email, name });
  await hub.control({ command: 'account.password', email, passwordHash: await passwordHashOf(password, DEMO_RULE) });
  const keyOf = async (own: string) => (await hub.control({ command: 'key.create', email, name: own })).mcp_key;
  const keys = { [AGENT]: await keyOf(AGENT), [PHONE]: await keyOf(PHONE) };
  for (const call of beginning(today())) await tell(hub.url, keys, call);
  return keys;
}

/** The password is random, and the hub listens on the loopback address only. */
const DEMO_RULE = { passwordBytesMin: 8, breachedPasswords: undefined };

const today = (): string => written(new Date());

function numberOf(options: Options, name: string, initial: number, most: number): number {
  const text = options.optional(name);
  const value = text === undefined ? initial : Number(text);
  if (text === '' || !Number.isInteger(value) || value < 0 || value > most)
    throw new UsageError(`--${name} must be a whole number from 0 to ${most}`);
  return value;
}
