/** Asks a running hub what its operator asks with `cairn account create` and the like, over the socket in its data folder. */
import type { ControlAnswer, ControlRequest, ControlResults } from '../../src/control/protocol.ts';
import { askControl } from '../../src/control/socket.ts';
import type { Hub } from './hub.ts';

/** Spares the start of a command for each account of a test. Throws with the hub's sentence when it refuses. */
export async function control<C extends ControlRequest['command']>(
  hub: Pick<Hub, 'dataFolder' | 'reachedFolder'>,
  request: Extract<ControlRequest, { command: C }>,
): Promise<ControlResults[C]> {
  const line = await askControl(hub.reachedFolder ?? hub.dataFolder, JSON.stringify(request));
  if (line === undefined) throw new Error(`no hub runs in ${hub.dataFolder}`);
  const answer = JSON.parse(line) as ControlAnswer;
  if (!answer.ok) throw new Error(`${request.command} failed: ${answer.error}`);
  return answer.result as ControlResults[C];
}
