/** Opens the log that CAIRN_LOG names, and refuses a store that cannot be one. */
import { fileURLToPath } from 'node:url';
import { StartError } from '../../common/start-error.ts';
import { FolderStore } from './folder.ts';
import type { CommitLog } from './log.ts';
import { ObjectLog } from './object-log.ts';
import { checkFences } from './probe.ts';

/** The cell of every hub. */
const CELL = 'cells/1';

/**
 * Opens a log: `file:///folder`. Races creates first, so it writes to the store. Throws StartError with a sentence for
 * the operator.
 */
export async function openCommitLog(url: string): Promise<CommitLog> {
  const parsed = parse(url);
  if (parsed.protocol === 'file:') return await openFolderLog(fileURLToPath(parsed));
  throw new StartError(`CAIRN_LOG is ${url}: it must begin with file:///.`);
}

async function openFolderLog(folder: string): Promise<CommitLog> {
  const store = new FolderStore(`${folder}/${CELL}`);
  await store.open();
  await checkFences(store, folder);
  return new ObjectLog(store);
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw new StartError(`CAIRN_LOG is ${url}, which is not a URL such as file:///srv/cairn-log.`);
  }
}
