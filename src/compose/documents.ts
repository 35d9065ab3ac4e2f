/** Opens the capabilities that store documents, and their shared trash. */

import type { CallerName } from '../common/principal.ts';
import type { Sweep } from '../common/sweep.ts';
import type { Config } from '../config.ts';
import { DocumentBin } from '../documents/bin.ts';
import { DevDocs } from '../documents/dev-docs/service.ts';
import { devDocTools } from '../documents/dev-docs/tools.ts';
import { Handoffs } from '../documents/handoffs/service.ts';
import { handoffTools } from '../documents/handoffs/tools.ts';
import { Papers } from '../documents/papers/service.ts';
import { paperTools } from '../documents/papers/tools.ts';
import type { Tool } from '../gateway/tool.ts';
import { categoryExists } from '../tasks/categories.ts';
import type { Core } from './core.ts';
import type { SearchThread } from './search/thread.ts';

export interface Documents {
  readonly docs: DevDocs;
  readonly handoffs: Handoffs;
  readonly papers: Papers;
  /** Empties the trash. */
  readonly sweep: Sweep;
}

export function openDocuments(
  { store, actors, quotas, clock }: Pick<Core, 'store' | 'actors' | 'quotas' | 'clock'>,
  { handoffDays }: Pick<Config, 'handoffDays'>,
  containing: SearchThread['containing'],
): Documents {
  const options = { store, actors, quotas, now: Date.now };
  const services = {
    docs: new DevDocs({
      ...options,
      mayContain: (query) => containing({ ...query, kind: 'doc' }),
    }),
    handoffs: new Handoffs({ ...options, keepDays: handoffDays, mayPurge: () => clock.isRight() }),
    // Papers use the same categories as tasks.
    papers: new Papers({ ...options, categoryExists }),
  };
  const bin = new DocumentBin({ store, actors, services });
  return {
    ...services,
    sweep: { what: 'documents', byAge: true, run: () => bin.empty(Date.now()) },
  };
}

export function documentTools({ docs, handoffs, papers }: Documents, nameOf: CallerName): Tool[] {
  return [...devDocTools(docs, nameOf), ...handoffTools(handoffs, nameOf), ...paperTools(papers, nameOf)];
}
