/** Brings the shared rules of a vault before everything else, so that a new device does not fetch what they leave out. */
import type { FolderPath } from '../folder/path.ts';
import type { SyncStep } from '../round.ts';
import { RULES_FILE } from '../scan/choice.ts';
import { applyRemote } from './apply.ts';
import { arrivalsOf } from './arrivals.ts';

/**
 * Before the first pull of a folder without rules of its own. What cannot be applied here is applied by that pull; an answer
 * that breaks off ends the sync.
 */
export async function takeRulesFirst(step: SyncStep): Promise<void> {
  const { folder, hub, state } = step;
  if (state.cursor !== null || !folder.isAbsent(RULES_FILE)) return;
  const take = (record: Parameters<typeof applyRemote>[1]) => {
    if (record.path === (RULES_FILE as FolderPath) && record.side !== undefined) applyRemote(step, record, undefined);
  };
  await hub.pullPaths([RULES_FILE], arrivalsOf(step, take), { brief: false });
}
