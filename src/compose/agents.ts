/**
 * Assembles the offers to agents beyond the tools: resources, prompts and notifications, as declared by the
 * capabilities.
 */
import { devDocPrompts, devDocResources } from '../documents/dev-docs/resources.ts';
import { handoffPrompts, handoffResources } from '../documents/handoffs/resources.ts';
import { paperResources } from '../documents/papers/resources.ts';
import { Listening } from '../gateway/listening/listening.ts';
import { Offers } from '../gateway/offers/offers.ts';
import { accountOfVault } from '../sync/log/records.ts';
import type { Sync } from '../sync/service.ts';
import { conflictPrompts, fileResources } from '../sync/tools/resources.ts';
import { taskResources } from '../tasks/resources.ts';
import type { Tasks } from '../tasks/service.ts';
import { openAssets } from '../web/assets.ts';
import type { Core } from './core.ts';
import type { Documents } from './documents.ts';

export interface Agents {
  readonly offers: Offers;
  readonly listening: Listening;
  /** Path of the icon shown by clients. */
  readonly icon: string;
}

export interface AgentsOptions {
  readonly core: Pick<Core, 'store' | 'timeZones'>;
  readonly tasks: Tasks;
  readonly documents: Pick<Documents, 'docs' | 'handoffs' | 'papers'>;
  readonly sync: Pick<Sync, 'reading'>;
}

export function openAgents({ core, tasks, documents, sync }: AgentsOptions): Agents {
  const { docs, handoffs, papers } = documents;
  const resources = [
    taskResources(tasks, core.timeZones),
    devDocResources(docs),
    handoffResources(handoffs),
    paperResources(papers),
    fileResources(sync.reading),
  ];
  const prompts = [handoffPrompts(handoffs), conflictPrompts, devDocPrompts(docs)];
  const { store } = core;
  return {
    offers: new Offers({ resources, prompts }),
    listening: new Listening({ resources, prompts, store, accountOfVault: accountOfVault(store) }),
    icon: openAssets().paths.icon,
  };
}
