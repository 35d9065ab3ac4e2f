/** Lists what was removed and can be brought back: records in the trash, and deleted files of vaults. */
import { turns } from '../../common/turns.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { paperUri } from '../../documents/papers/resources.ts';
import { plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import type { VersionMeta } from '../../sync/log/version.ts';
import { taskUri } from '../../tasks/thing.ts';
import { foldCase } from '../../text/fold-case.ts';
import { fileName } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { minute } from './shown.ts';

interface Removed {
  readonly id: string;
  readonly about: string;
}

/** Everything in the trash, with a line that says how much it is. */
export async function trashOf(shelves: Shelves, accountId: string) {
  const { docs, papers, tasks } = shelves;
  const at = (deletedAt: string | null) => `deleted ${minute(deletedAt ?? '')}`;
  const deletedTasks = await tasks.deleted(accountId);
  const records: Removed[] = [
    ...docs.deleted(accountId).map((one) => ({ id: docUri(one), about: at(one.deleted_at) })),
    ...papers.deleted(accountId).map((one) => ({ id: paperUri(one.id), about: `${one.title}, ${at(one.deleted_at)}` })),
    ...deletedTasks.map((one) => ({
      id: taskUri(one.id),
      about: `${one.content.split('\n')[0]}, ${at(one.deleted_at)}`,
    })),
    ...tasks.categories.deleted(accountId).map((one) => ({
      id: `category ${one.id}`,
      about: `${one.name}, ${at(one.deleted_at)}; update_category with restore brings it back`,
    })),
  ];
  const files = await deletedFiles(shelves, accountId);
  const newest = deletedTasks.length === limits.trashRowsShown ? 'the newest ' : '';
  const beside = files.length === 0 ? '' : `, and ${plural(files.length, 'deleted file')}`;
  return {
    headline: `${newest}${plural(records.length, 'record')} in the trash${beside}; restore brings one back`,
    items: [...records, ...files],
  };
}

/** The files that the newest changes of each vault deleted and that are not back, the last one deleted first. */
async function deletedFiles(shelves: Shelves, accountId: string): Promise<Removed[]> {
  const { reader, reading, vaults } = shelves.sync;
  const found: (VersionMeta & { readonly name: string })[] = [];
  for (const { id, head } of vaults.list(accountId)) {
    let seq = head.seq;
    /** The path that the change after this one renamed: its tombstone is no deletion. */
    let moved: string | undefined;
    for (let looked = 0; seq > 0 && looked < limits.trashChangesMax; looked += 1) {
      if (turns.isOver) await turns.next(accountId);
      const meta = reader.versionMeta(id, seq);
      const folded = meta && foldCase(meta.path);
      // The newest version of its path: not back, and not deleted again later.
      if (meta?.type === 'deleted' && folded !== undefined && folded !== moved && reader.file(id, folded)?.seq === seq)
        found.push({ ...meta, name: fileName(shelves, accountId, id, meta.path) });
      moved = meta?.renamed_from === undefined ? undefined : foldCase(meta.renamed_from);
      seq = meta === undefined ? reading.views.keptUpTo(id, seq - 1) : seq - 1;
    }
  }
  return found
    .sort((one, other) => other.stored_at.localeCompare(one.stored_at) || other.seq - one.seq)
    .map(({ name, stored_at: at, device_id: by }) => ({ id: name, about: `deleted ${minute(at)} by ${by}` }));
}
