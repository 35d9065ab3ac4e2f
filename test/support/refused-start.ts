/** Starts a service that is expected to refuse: resolves when it has ended, whichever way. */
import { spawn } from 'node:child_process';
import { CAIRN, type CommandResult, cleanEnvironment } from './hub.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Code 0 means that it did start; it is then stopped. */
export function refusedStart(env: Record<string, string>): Promise<CommandResult> {
  const child = spawn(process.execPath, [CAIRN, 'serve'], {
    env: cleanEnvironment({ CAIRN_PORT: '0', CAIRN_DATA: temporaryFolder(), ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.includes('"listening"')) child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}
