/** Imports one vault of an archive: its devices, log and conflicts. Refuses a log that no vault can have. */
import type { Await, ImportTarget } from '../../archive/records.ts';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { LogChange } from '../log/change.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { type HubClock, parseHlc } from '../log/hlc.ts';
import { checkPath, type VaultPath } from '../log/paths.ts';
import type { SyncReader } from '../log/reader.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { type ConflictRecord, conflictBytes, devices } from '../log/records.ts';
import { decodeContent, type WholeEncoding } from '../log/version.ts';
import { describeClash } from '../push/refusals.ts';
import { findClash } from '../push/state.ts';
import { putChunks } from './chunks.ts';
import type { ContentLine, PortableContents } from './contents.ts';
import type { ConflictLine, DeletedLine, DeviceLine, FileLine, VaultArchiveRecord, VaultLine } from './records.ts';

export interface VaultTarget extends Pick<ImportTarget, 'archive' | 'actors' | 'accountId' | 'latestMs'> {
  readonly vaultId: string;
  readonly contents: PortableContents;
}

/** Placeholder for the hub's node id, needed only for clocks made by the hub; an import makes none. */
const NO_NODE = '0'.repeat(16);

export class VaultImport {
  readonly #target: VaultTarget;
  #clock: HubClock;
  #last = { seq: 0, storedMs: 0 };
  #devices = 0;
  #hasConflicts = false;

  constructor(target: VaultTarget, { clock_at: at, clock_counter: counter }: VaultLine) {
    this.#target = target;
    this.#clock = { ms: Date.parse(at), counter };
  }

  async take(record: Exclude<VaultArchiveRecord, VaultLine>, wait: Await): Promise<void> {
    switch (record.type) {
      case 'device':
        return await wait(this.#device(record));
      case 'conflict':
        this.#hasConflicts = true;
        return await this.#conflict(record, wait);
      case 'file':
      case 'deleted':
        if (this.#hasConflicts) throw invalidField('type', 'conflicts must follow the log of their vault');
        return await this.#version(record, wait);
    }
  }

  /** Stores the chunks of the vault, and its clock, at or above the clock of every version. */
  async finish(): Promise<void> {
    const { vaultId, contents } = this.#target;
    for (const rows of contents.chunksOf(vaultId).portions()) {
      await this.#change((change, batch) => {
        putChunks(batch, change, vaultId, rows);
        change.finish();
      });
    }
    await this.#change((change) => {
      if (change.head.seq === 0) return;
      change.setClock(this.#clock);
      change.finish();
    });
  }

  #device(line: DeviceLine): Promise<void> {
    const { type: _, device_id: deviceId, last_seen_at: seenAt, ...positions } = line;
    const { vaultId, actors } = this.#target;
    this.#devices += 1;
    if (this.#devices > limits.devicesMax)
      throw invalidField('device_id', `there are more than ${limits.devicesMax} devices`);
    const record = { last_seen_ms: Date.parse(seenAt), ...positions };
    return actors.vault(vaultId).ask((batch) => batch.put(devices, [vaultId, deviceId], record));
  }

  async #version(line: FileLine | DeletedLine, wait: Await): Promise<void> {
    const path = readPath(line.path);
    const storedMs = Date.parse(line.stored_at);
    if (line.seq <= this.#last.seq) throw invalidField('seq', `seq must be above ${this.#last.seq}`);
    if (storedMs <= this.#last.storedMs && this.#last.storedMs - storedMs <= limits.clockJumpMs)
      throw invalidField('stored_at', 'stored_at must be later than in the previous version');
    if (line.type === 'deleted' && line.deleted_at !== line.stored_at) {
      throw invalidField('deleted_at', 'deleted_at must equal stored_at');
    }
    this.#last = { seq: line.seq, storedMs };
    this.#moveClock(line);
    const content =
      line.type === 'file' ? await this.#target.contents.ready(this.#target.vaultId, contentOf(line)) : undefined;
    const place = { seq: line.seq, storedMs, deleted: { sha256: line.sha256, gitSha: line.git_sha } };
    await wait(
      this.#change((change) => {
        const before = change.reader.file(this.#target.vaultId, path.folded);
        this.#check(change.reader, path, line, before);
        change.append({
          path,
          before,
          status: line.status,
          content,
          hlc: line.hlc,
          deviceId: line.device_id,
          mtime: line.remote_mtime,
          executable: line.type === 'file' && line.executable === true,
          renamedFrom: line.renamed_from,
          place,
        });
        change.finish();
      }),
    );
  }

  /** Throws Refusal `invalid_fields` when a deletion is not of the current file, or a new file clashes with another. */
  #check(reader: SyncReader, path: VaultPath, line: FileLine | DeletedLine, before: FileRecord | undefined): void {
    const live = liveFile(before);
    if (line.type === 'deleted') {
      const isIt = live?.sha256 === line.sha256 && live.git_sha === line.git_sha;
      // Retention may have removed the file deleted by the oldest stored version of a path, or the export a damaged one.
      const isComplete = this.#target.archive.manifest.missing === undefined;
      if (!isIt && before !== undefined && isComplete)
        throw invalidField('sha256', `${path.path} does not exist, or is another file, so it cannot be deleted`);
      return;
    }
    const clash = live === undefined ? findClash(reader, this.#target.vaultId, path.folded) : undefined;
    if (clash !== undefined) throw invalidField('path', describeClash(path.path, clash));
  }

  async #conflict(line: ConflictLine, wait: Await): Promise<void> {
    const { vaultId, contents } = this.#target;
    const path = readPath(line.path);
    const isPending = line.status === 'pending';
    if (isPending !== (line.settled_at === null)) throw invalidField('settled_at', 'status contradicts settled_at');
    if (parseHlc(line.your_hlc, line.device_id) === undefined)
      throw invalidField('your_hlc', 'your_hlc is not a clock');
    const hashes = refusedHashes(line);
    const content = hashes && (await contents.ready(vaultId, { ...partsOf(line), ...hashes, encoding: line.encoding }));
    const record = recordOf(line, content);
    const { encoding } = line;
    // A list of chunks is in pieces.
    const isInline = content?.stored.kind === 'inline' && encoding !== 'chunks';
    const bytes = isInline ? bytesOf(content.stored.json, encoding) : undefined;
    const id = line.conflict_id;
    await wait(
      this.#change((change, batch) => {
        if (change.reader.hasConflict(vaultId, id)) throw invalidField('conflict_id', 'another conflict has this id');
        if (bytes !== undefined) batch.put(conflictBytes, [vaultId, id], bytes);
        if (!isPending) {
          change.keepSettled({ id, record });
          change.finish();
          return;
        }
        if (change.reader.pendingOf(vaultId, path.folded).length >= limits.pendingConflictsPerPathMax) {
          throw invalidField('path', `${path.path} has too many pending conflicts`);
        }
        change.keep(path.folded, { id, record });
        change.finish();
      }),
    );
  }

  #change(decide: (change: LogChange, batch: Batch) => void): Promise<void> {
    const { actors, accountId, vaultId } = this.#target;
    return actors.vault(vaultId).ask(
      (batch): void => {
        decide(new LogChange(batch, { accountId, vaultId, nodeId: NO_NODE }, 0), batch);
      },
      { accountId },
    );
  }

  /** Raises the hub's clock to at least the clock of a version. */
  #moveClock({ hlc, device_id: deviceId }: FileLine | DeletedLine): void {
    const clock = parseHlc(hlc, deviceId);
    if (clock === undefined) throw invalidField('hlc', 'hlc is not a clock');
    const ms = Math.ceil(clock.ms);
    if (ms > this.#target.latestMs)
      throw invalidField('hlc', 'hlc is ahead of the clock of this hub; set the clock, then import again');
    if (ms > this.#clock.ms) this.#clock = { ms, counter: clock.counter };
    else if (ms === this.#clock.ms) this.#clock = { ms, counter: Math.max(clock.counter, this.#clock.counter) };
  }
}

/** Checks a path. Throws Refusal `invalid_fields` when it is not in its stored form. */
function readPath(given: string): VaultPath {
  const path = checkPath(given);
  if (path.path !== given) throw invalidField('path', 'path is not in Unicode form NFC');
  return path;
}

function contentOf(line: FileLine): ContentLine {
  const { sha256, git_sha: gitSha } = line;
  return { ...partsOf(line), sha256, gitSha, encoding: line.encoding ?? 'utf-8' };
}

function partsOf({ size_bytes: sizeBytes, content, content_in_blobs: isInBlobs }: FileLine | ConflictLine) {
  return { sizeBytes, content, isInBlobs: isInBlobs === true };
}

/** Returns the hashes of the content of a refused push, or undefined for a delete. */
function refusedHashes(line: ConflictLine): { readonly sha256: string; readonly gitSha: string } | undefined {
  const { your_sha256: sha256, your_git_sha: gitSha } = line;
  if (sha256 !== null && gitSha !== null) return { sha256, gitSha };
  const isNothing = sha256 === null && gitSha === null && line.size_bytes === 0;
  if (!isNothing || line.content !== undefined || line.content_in_blobs === true) {
    throw invalidField('your_sha256', 'a refused delete must have no content; every other conflict must have one');
  }
  return undefined;
}

function recordOf(line: ConflictLine, content: ReadyContent | undefined): ConflictRecord {
  const { type: _type, conflict_id: _id, content: _content, content_in_blobs: _inBlobs, ...shown } = line;
  const pieces = content?.stored.kind === 'pieces' ? content.stored : undefined;
  return { ...shown, storage_id: pieces?.storageId ?? 0, escaped_bytes: pieces?.escapedBytes ?? 0 };
}

function bytesOf(json: string, encoding: WholeEncoding): Uint8Array {
  return decodeContent(JSON.parse(json) as string, encoding);
}
