/**
 * Hooks of a coding agent. `start` prints what the hub knows, which the agent reads first. `save` keeps the end of a
 * conversation as a handoff before it is compacted. Either uses the `cairn` command and its sign-in (`cairn login`).
 * A hub that cannot be reached never stops the agent.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';

const SAVED_CHARS_MAX = 20_000;
const run = promisify(execFile);

/** What the agent tells its hooks, as JSON on standard input. */
function readInput() {
  try {
    return JSON.parse(readFileSync(0, 'utf8'));
  } catch {
    return {};
  }
}

async function cairn(...args) {
  const { stdout } = await run(process.env.CAIRN_COMMAND ?? 'cairn', ['call', ...args], { timeout: 12_000 });
  return stdout;
}

/** The words of a transcript, the newest last, without calls of tools and their results. */
function wordsOf(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const said = lines.flatMap((line) => {
    try {
      const { type, message } = JSON.parse(line);
      const parts =
        typeof message?.content === 'string' ? [{ type: 'text', text: message.content }] : (message?.content ?? []);
      const text = parts
        .filter((part) => part.type === 'text')
        .map((part) => part.text)
        .join('\n')
        .trim();
      return text === '' ? [] : [`## ${type === 'user' ? 'Person' : 'Agent'}\n\n${text}`];
    } catch {
      return [];
    }
  });
  return said.join('\n\n').slice(-SAVED_CHARS_MAX);
}

const input = readInput();
const project = basename(input.cwd ?? process.env.CLAUDE_PROJECT_DIR ?? process.cwd());
try {
  if (process.argv[2] === 'start') {
    const said = await cairn('start_session', `--project=${project}`);
    process.stdout.write(`From the Cairn hub, about this session:\n${said}`);
  } else if (existsSync(input.transcript_path ?? '')) {
    const content = `The end of a conversation, kept before it was compacted.\n\n${wordsOf(input.transcript_path)}`;
    await cairn('handoff_save', `--project=${project}`, '--topic=compacted', `--content=${content}`);
  }
} catch (error) {
  process.stderr.write(`cairn: ${error.stderr?.trim() || error.message}\n`);
}
