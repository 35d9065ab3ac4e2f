/** Runs a control command: in the process that serves the data folder, or here when none does. */
import { readConfig } from '../config.ts';
import { runControl } from '../control/commands.ts';
import type { ControlAnswer, ControlRequest, ControlResults } from '../control/protocol.ts';
import { askControl } from '../control/socket.ts';
import { openCore } from '../core.ts';
import { openLog } from '../log.ts';
import { StartError } from '../start-error.ts';

type RequestOf<C extends ControlRequest['command']> = Extract<ControlRequest, { command: C }>;

export async function control<C extends ControlRequest['command']>(request: RequestOf<C>): Promise<ControlResults[C]> {
  const config = readConfig();
  const line = await askControl(config.dataFolder, JSON.stringify(request));
  if (line !== undefined) {
    const answer = JSON.parse(line) as ControlAnswer;
    if (!answer.ok) throw new StartError(answer.error);
    return answer.result as ControlResults[C];
  }
  const sink = openLog('silent');
  const core = await openCore(config, sink.log);
  try {
    return (await runControl(core, request)) as ControlResults[C];
  } finally {
    await core.close();
    sink.flush();
  }
}
