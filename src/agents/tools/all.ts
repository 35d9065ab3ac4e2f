/** Lists the tools made for models, in their published order. */
import type { Tool } from '../../gateway/tool.ts';
import type { AccountZones } from '../../tasks/tools.ts';
import { ThingChanges } from '../things/change.ts';
import type { Shelves } from '../things/thing.ts';
import { listTool, type Reports } from './list.ts';
import { memoryTools } from './memory.ts';
import { placeTools } from './places.ts';
import { readTool, type SetupText } from './read.ts';
import { sessionTool } from './session.ts';
import { taskListTools } from './tasks.ts';
import { textTools } from './texts.ts';
import { versionTools } from './versions.ts';

export interface AgentToolsOptions {
  readonly zones: AccountZones;
  readonly reports: Reports;
  readonly setupText: SetupText;
  readonly now: () => number;
}

export function agentTools(shelves: Shelves, { zones, reports, setupText, now }: AgentToolsOptions): Tool[] {
  const changes = new ThingChanges(shelves);
  return [
    sessionTool(shelves, zones, reports, now),
    readTool(shelves, setupText),
    ...textTools(changes),
    listTool(shelves, reports),
    ...placeTools(shelves),
    ...versionTools(shelves, { zones, now }),
    ...taskListTools(shelves),
    ...memoryTools(shelves),
  ];
}
