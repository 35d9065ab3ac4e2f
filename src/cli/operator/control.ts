/** Runs a control command in the process that serves the data folder, or in this process when no service runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Log, openLog } from '../../common/log.ts';
import { StartError } from '../../common/start-error.ts';
import type { Core } from '../../compose/core.ts';
import type { Config } from '../../config.ts';
import { systemUser } from '../../config.ts';
import {
  type ControlAnswer,
  type ControlRequest,
  type ControlRequestOf,
  type ControlResults,
  progressSchema,
} from '../../control/protocol.ts';
import { askControl } from '../../control/socket.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { printError } from '../output.ts';
import { operatorConfig } from './settings.ts';

export interface LongCommand {
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
  /** Opens the resources needed beside the core when no service runs. Returns a function that closes them. */
  readonly open: (core: Core, config: Config, log: Log) => Promise<() => Promise<void>>;
}

export async function control<C extends ControlRequest['command']>(
  request: ControlRequestOf<C>,
  long?: LongCommand,
): Promise<ControlResults[C]> {
  const config = operatorConfig();
  const user = systemUser();
  const line = await askControl(
    config.dataFolder,
    JSON.stringify({ ...request, operator_user: user }),
    (told) => isProgress(told, long),
    long?.signal,
  );
  if (line !== undefined) {
    const answer = JSON.parse(line) as ControlAnswer;
    if (!answer.ok) throw new StartError(answer.error);
    return answer.result as ControlResults[C];
  }
  const { openCore } = await import('../../compose/core.ts');
  const { runControl } = await import('../../control/commands.ts');
  const { operatorSource } = await import('../../audit/note.ts');
  const sink = openLog('silent');
  const isNew = !existsSync(join(config.dataFolder, DATA_FILE));
  const core = await openCore(config, sink.log, { mayMake: MAKES_HUB.has(request.command), mayUpgrade: false });
  let close = () => Promise.resolve();
  try {
    if (long !== undefined) close = await long.open(core, config, sink.log);
    const progress = { tell: long?.onProgress ?? (() => undefined), signal: long?.signal ?? NEVER };
    const result = (await runControl(core, request, progress, operatorSource(user))) as ControlResults[C];
    core.keep();
    if (isNew) printError(`cairn: there was no hub in ${config.dataFolder}; a new one was created.`);
    // A running service does this in the background.
    if (request.command === 'account.delete') await core.removal.run();
    return result;
  } finally {
    await close();
    await core.life.end();
    sink.flush();
  }
}

/** Commands that may create a hub. Any other command in a folder named by mistake must not create one. */
const MAKES_HUB: ReadonlySet<ControlRequest['command']> = new Set(['account.create', 'account.import'] as const);

const NEVER = new AbortController().signal;

/** True when the line reports the progress of a long command. */
function isProgress(line: string, long: LongCommand | undefined): boolean {
  const told = progressSchema.safeParse(JSON.parse(line));
  if (told.success) long?.onProgress(told.data.done, told.data.total);
  return told.success;
}
