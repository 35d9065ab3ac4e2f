/** The process of a `CommandRoom`: runs what the built command runs, and sends back what it wrote and its exit code. */
import { findCommand, loadGroups } from '../../src/cli/commands.ts';
import { useUmaskOfService } from '../../src/cli/process.ts';
import { runCommand } from '../../src/cli/run.ts';
import { openLog } from '../../src/common/log.ts';
import type { RunningService } from '../../src/compose/member/running-service.ts';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/main.ts';
import type { RoomRequest } from './command-room.ts';

/** An error that nobody expected ends a command with this code, as it ends a process. */
const UNEXPECTED = 70;

/** On this process's own standard output: what it ends with tells why. */
const log = openLog('warn');
let service: RunningService | undefined;
let written = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: string | Uint8Array) => {
    written[name] += String(text);
    return true;
  };
}
useUmaskOfService();
process.on('message', ({ argv }: RoomRequest) => void answer(argv));
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function answer(argv: readonly string[]): Promise<void> {
  written = { stdout: '', stderr: '' };
  process.exitCode = 0;
  try {
    if (argv[0] === 'serve') {
      service = await startService(readConfig(), log);
      written.stdout = String(service.port);
    } else if (argv[0] === 'stop') {
      await service?.stop();
      service = undefined;
    } else await runCommand(argv, { findCommand, loadGroups });
  } catch (error) {
    process.exitCode = UNEXPECTED;
    written.stderr += (error as Error).stack ?? String(error);
  }
  for (const signal of ['SIGUSR1', 'SIGUSR2']) process.removeAllListeners(signal);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  process.send?.({ code: Number(process.exitCode), ...written });
}
