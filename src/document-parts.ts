/** Opens the capabilities whose data are documents, and the bin that they share. */
import type { Config } from './config.ts';
import type { Core } from './core.ts';
import { DevDocs, forgetDoc } from './docs/service.ts';
import { devDocTools } from './docs/tools.ts';
import type { Tool } from './gateway/tool.ts';
import { Handoffs } from './handoffs/service.ts';
import { handoffTools } from './handoffs/tools.ts';
import type { Sweep } from './sweeper.ts';
import { DocumentBin } from './versions/bin.ts';

export interface Documents {
  readonly docs: DevDocs;
  readonly handoffs: Handoffs;
  /** What empties the bin. */
  readonly sweep: Sweep;
}

export function openDocuments({ store, actors }: Core, { handoffDays }: Config): Documents {
  const bin = new DocumentBin({ store, actors, forget: { docs: forgetDoc } });
  return {
    docs: new DevDocs({ store, actors, now: Date.now }),
    handoffs: new Handoffs({ store, actors, now: Date.now, keepDays: handoffDays }),
    sweep: { what: 'documents', run: () => bin.empty(Date.now()) },
  };
}

export function documentTools({ docs, handoffs }: Documents): Tool[] {
  return [...devDocTools(docs), ...handoffTools(handoffs)];
}
