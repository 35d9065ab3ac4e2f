/** Lists the tools made for models, in their published order. */
import type { Tool } from '../../gateway/tool.ts';
import { ThingChanges } from '../things/change.ts';
import type { Shelves } from '../things/thing.ts';
import { listTool, type Reports } from './list.ts';
import { placeTools } from './places.ts';
import { taskListTools } from './tasks.ts';
import { textTools } from './texts.ts';
import { versionTools } from './versions.ts';

export function agentTools(shelves: Shelves, reports: Reports): Tool[] {
  const changes = new ThingChanges(shelves);
  return [
    ...textTools(shelves, changes),
    listTool(shelves, reports),
    ...placeTools(shelves),
    ...versionTools(shelves),
    ...taskListTools(shelves),
  ];
}
