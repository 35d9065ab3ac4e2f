/** Makes calls of a running hub on its data file fail: strace is attached to it, tampers with them, and is let go again. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hub } from './hub.ts';
import { temporaryFolder } from './temporary-folder.ts';

const LETS_GO_MS = 5000;

export interface DiskFault {
  /** Ends the fault. Gives the calls that were tampered with, as strace writes them. */
  end(): Promise<string[]>;
}

/**
 * Begins a fault. `rule` says which calls and what they do instead, as `strace -e inject=` has it, such as
 * `fdatasync:error=EIO`; a call that is tampered with does nothing else. Its `when=` counts for each thread.
 */
export async function beginFault(hub: Hub, rule: string): Promise<DiskFault> {
  const output = join(temporaryFolder(), 'calls');
  const calls = rule.slice(0, rule.indexOf(':'));
  const target = ['-p', String(hub.process.pid), '-P', join(hub.dataFolder, 'cairn.mdb')];
  const rules = ['-e', `trace=${calls}`, '-e', `inject=${rule}`];
  const tracer = spawn('strace', ['-f', '-o', output, ...target, ...rules], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const ended = new Promise<void>((resolve) => tracer.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    tracer.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/ attached with \d+ threads/.test(said)) resolve();
    });
    tracer.once('close', () => reject(new Error(`strace could not be attached: ${said}`)));
  });
  return {
    async end() {
      tracer.kill('SIGINT');
      // Asked to let go while the process dies, strace may wait for it for ever, and its parent hears of no end until then.
      const stuck = setTimeout(() => tracer.kill('SIGKILL'), LETS_GO_MS);
      await ended;
      clearTimeout(stuck);
      return readFileSync(output, 'utf8')
        .split('\n')
        .filter((line) => line.includes('INJECTED'));
    },
  };
}
