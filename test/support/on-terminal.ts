/** Runs a command on a terminal of its own (`script` of util-linux), and types once it asks. */
import { spawn, spawnSync } from 'node:child_process';

/** True where a terminal can be made. */
export const hasTerminal = spawnSync('script', ['--version']).status === 0;

/** Resolves with what the terminal showed. `typed` is sent after the first output that has `after`. */
export async function runOnTerminal(
  command: readonly string[],
  { env, after, typed }: { readonly env: NodeJS.ProcessEnv; readonly after: string; readonly typed: string },
): Promise<string> {
  const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  const child = spawn('script', ['-qec', words, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  let isTyped = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (isTyped || !shown.includes(after)) return;
    isTyped = true;
    child.stdin.write(typed);
  });
  await new Promise((resolve) => child.once('close', resolve));
  return shown;
}
