/** Notices a path of the primary vault that names another thing: a file of another vault, a document, a task. */
import { Refusal } from '../../common/fault.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { paperUri } from '../../documents/papers/resources.ts';
import { limits } from '../../limits/service.ts';
import { liveFile } from '../../sync/log/file-record.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { ThingPlace } from './ids.ts';
import type { Shelves } from './thing.ts';

/** A place in another vault than the primary one. */
export interface MeantPlace {
  /** Its id. */
  readonly id: string;
  readonly vaultId: string;
  /** The path in that vault; empty: the whole vault. */
  readonly path: string;
}

/** The place in the vault whose name a path begins with, or `vaults/` and its name. Undefined: no other vault has it. */
export function meantPlace({ sync }: Pick<Shelves, 'sync'>, accountId: string, path: string): MeantPlace | undefined {
  const [name = '', ...rest] = path.replace(/^vaults\//, '').split('/');
  const wanted = foldCase(name);
  const vault = sync.vaults
    .list(accountId)
    .find(({ record }) => !record.is_primary && foldCase(record.name) === wanted);
  if (vault === undefined) return undefined;
  const inside = rest.join('/');
  return { id: fileUri(vault.id, inside), vaultId: vault.id, path: inside };
}

/** Ids without their scheme, as lists show folders of documents. */
const WITHOUT_SCHEME = /^(?:docs|handoffs|papers|tasks)\//;

/** True for a path that is an id but for its scheme. */
export function isBareId(path: string): boolean {
  return WITHOUT_SCHEME.test(path);
}

/** Runs a step. When it refuses a path of the primary vault as unknown, and the path names another thing, the refusal has its id. */
export async function orMeant<T>(
  shelves: Shelves,
  accountId: string,
  place: ThingPlace,
  step: () => T | Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const isUnknown = error instanceof Refusal && ['not_found', 'path_not_found'].includes(error.fault.kind);
    if (!isUnknown || place.kind !== 'file' || place.vault !== undefined) throw error;
    const meant = meantId(shelves, accountId, place.path);
    if (meant === undefined) throw error;
    throw new Refusal({
      kind: 'not_found',
      what: `no file ${place.path} in the primary vault; did you mean ${meant}?`,
    });
  }
}

/** The id of what a path names, if that is there. */
function meantId(shelves: Shelves, accountId: string, path: string): string | undefined {
  const inVault = meantPlace(shelves, accountId, path);
  const file = inVault && liveFile(shelves.sync.reader.file(inVault.vaultId, foldCase(inVault.path)));
  if (inVault !== undefined && file !== undefined) return fileUri(inVault.vaultId, file.path);
  if (isBareId(path)) return idOf(shelves, accountId, `cairn://${encodeURI(path)}`);
  const doc = shelves.docs.titled(accountId, path);
  if (doc !== undefined) return docUri(doc);
  const query = { include_content: false, limit: limits.namesGuessedMax };
  const titled = shelves.papers
    .list(accountId, query)
    .papers.find(({ paper }) => foldCase(paper.title) === foldCase(path));
  return titled && paperUri(titled.paper.id);
}

function idOf({ things }: Shelves, accountId: string, id: string): string | undefined {
  try {
    return things.open(accountId, id).id;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
