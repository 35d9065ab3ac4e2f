/** Defines the resource listing today's tasks. */
import { markOfText } from '../gateway/listening/watched.ts';
import type { ResourceKind } from '../gateway/offers/resource.ts';
import { listArguments, taskSearchOf } from './list/arguments.ts';
import { taskTables } from './records.ts';
import type { Tasks } from './service.ts';
import { type AccountZones, listText } from './tools.ts';

const URI = 'cairn://tasks/today';

export function taskResources(tasks: Tasks, zones: AccountZones): ResourceKind {
  const shown = async (accountId: string) => {
    const query = taskSearchOf(listArguments.parse({ due_today: true }), tasks.now(), () => zones.of(accountId));
    const found = await tasks.searchShown(accountId, query);
    return listText(found, (id) => tasks.categories.nameOf(accountId, id));
  };
  return {
    template: URI,
    name: 'tasks-today',
    title: 'Tasks of today',
    description: 'What is due today',
    mimeType: 'text/plain',
    list: () => ({ items: [{ uri: URI, name: 'Tasks of today', mimeType: 'text/plain' }], cursor: undefined }),
    madeFrom: taskTables,
    listedFrom: [],
    todayOf: (accountId) => zones.of(accountId).dayOf(tasks.now()),
    mark: async (accountId) => markOfText(await shown(accountId)),
    read: async (accountId) => ({ mimeType: 'text/plain', text: await shown(accountId) }),
  };
}
