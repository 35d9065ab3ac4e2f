/** The tasks of today as a resource. */
import type { ResourceKind } from '../gateway/offers/resource.ts';
import { listArguments, listQuery } from './list/arguments.ts';
import type { Tasks } from './service.ts';
import { type AccountZones, listText } from './tools.ts';

const URI = 'cairn://tasks/today';

export function taskResources(tasks: Tasks, zones: AccountZones): ResourceKind {
  return {
    template: URI,
    name: 'tasks-today',
    title: 'Tasks of today',
    description: 'What is due today',
    mimeType: 'text/plain',
    list: () => ({ items: [{ uri: URI, name: 'Tasks of today', mimeType: 'text/plain' }], cursor: undefined }),
    async read(accountId) {
      const query = listQuery(listArguments.parse({ due_today: true }), tasks.now(), () => zones.of(accountId));
      const found = await tasks.searchShown(accountId, query);
      return { mimeType: 'text/plain', text: listText(found.tasks, found.hasMore, found.complete) };
    },
  };
}
