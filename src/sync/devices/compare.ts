/**
 * Compares a device with a vault: what to pull, push and delete, and what needs a decision. Read-only, in short turns.
 * Changes made during the comparison come after the cursor returned with it.
 */
import { invalidField } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../log/file-record.ts';
import type { SyncReader, VaultOf } from '../log/reader.ts';
import type { FileLists } from '../pull/list.ts';
import type { DeviceFile, DeviceManifest } from './manifest.ts';
import { type Standing, standingByHistory, standingOf, standingOfBit } from './standing.ts';

export interface ComparedFile {
  /** As the hub spells it, or would spell it. */
  readonly path: string;
  /** As the device spells it. Undefined when the device does not name it. */
  readonly given: string | undefined;
  readonly local: string | undefined;
  /** The newest version on the hub, tombstones included. */
  readonly remote: FileRecord | undefined;
}

type Task = Exclude<Standing, 'same'>;

export interface Comparison {
  /** Files by what to do with them: those known to the hub in the order of their folded paths, then all others. */
  readonly tasks: Readonly<Record<Task, readonly ComparedFile[]>>;
  readonly same: number;
  /** More is to be done than one answer can list: do this, then compare again. */
  readonly hasMore: boolean;
}

/**
 * Compares everything below a folded prefix; empty: the whole vault. Consumes the manifest. Throws Refusal
 * `invalid_fields` for `prefix` when there are too many files to compare.
 */
export async function compareDevice(
  { reader, fileLists }: { readonly reader: SyncReader; readonly fileLists: FileLists },
  { accountId, vaultId }: VaultOf,
  { files }: Pick<DeviceManifest, 'files'>,
  prefix: string,
): Promise<Comparison> {
  const tasks: Record<Task, ComparedFile[]> = { pull: [], push: [], push_delete: [], delete: [], conflict: [] };
  const history = new History(reader, accountId, vaultId);
  let [looked, same, hasMore] = [0, 0, false];
  const sort = async (device: DeviceFile | undefined, remote: FileRecord | undefined) => {
    const { local, path = '', given } = device ?? {};
    const standing = await standingIn(history, device, remote);
    if (standing === 'same') same += Number(local !== undefined);
    else if (tasks[standing].length >= limits.standingPathsMax) hasMore = true;
    else tasks[standing].push({ path: remote?.path ?? path, given, local, remote });
  };
  for await (const { folded, file } of fileLists.walk({ accountId, vaultId }, prefix)) {
    looked += 1;
    if (looked > limits.standingScanMax) throw tooMany();
    await sort(files.get(folded), file);
    files.delete(folded);
  }
  for (const [folded, device] of files) {
    looked += 1;
    if (turns.isOver) await turns.next(accountId);
    if (folded.startsWith(prefix)) await sort(device, undefined);
  }
  return { tasks, same, hasMore };
}

async function standingIn(
  history: History,
  { local, base, executable }: Partial<DeviceFile> = {},
  remote: FileRecord | undefined,
): Promise<Standing> {
  const found = standingOf({ local, base }, remote);
  if (remote === undefined || local === undefined) return found as Standing;
  if (found === 'by_history') return standingByHistory(remote, await history.had(remote, local));
  const isOtherBit = found === 'same' && executable !== undefined && executable !== remote.executable;
  return isOtherBit ? standingOfBit(await history.had(remote, local, executable)) : found;
}

/** Searches earlier versions on the hub, at most `limits.standingLinksMax` of them for all files together. */
class History {
  readonly #reader: SyncReader;
  readonly #accountId: string;
  readonly #vaultId: string;
  #links = 0;

  constructor(reader: SyncReader, accountId: string, vaultId: string) {
    this.#reader = reader;
    this.#accountId = accountId;
    this.#vaultId = vaultId;
  }

  /**
   * True when a version of a file had these bytes, and this executable bit if given. Undefined when the search stopped
   * early.
   */
  async had(file: FileRecord, sha256: string, executable?: boolean): Promise<boolean | undefined> {
    const isSought = (one: { readonly sha256: string }, bit: () => boolean) =>
      one.sha256 === sha256 && (executable === undefined || bit() === executable);
    const isNewest = isSought(file, () => file.executable);
    if (isNewest || file.versions === 1) return isNewest;
    for (const link of this.#reader.chain(this.#vaultId, file.seq)) {
      const bit = () => this.#reader.versionMeta(this.#vaultId, link.seq)?.executable === true;
      if (!link.deleted && isSought(link, bit)) return true;
      this.#links += 1;
      if (this.#links >= limits.standingLinksMax) return undefined;
      // Versions never change, so the chain continues after a pause. Versions removed by retention in between end it.
      if (turns.isOver) await turns.next(this.#accountId);
    }
    return false;
  }
}

function tooMany() {
  return invalidField(
    'prefix',
    `there are more than ${limits.standingScanMax} files, deleted ones too; send a longer prefix, one folder at a time`,
  );
}
