/** Builds pushes and the state of the vault that meets them, each as a value with a few members changed. */
import { limits } from '../../src/limits/service.ts';
import type { FileRecord } from '../../src/sync/log/file-record.ts';
import { formatHlc, type Hlc, parseHlc } from '../../src/sync/log/hlc.ts';
import type { Conflict } from '../../src/sync/log/reader.ts';
import type { ConflictRecord } from '../../src/sync/log/records.ts';
import type { PushedContent, PushRequest, PushState } from '../../src/sync/push/types.ts';

export const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');
/** A clock so many milliseconds after a fixed time. */
export const clockAt = (afterMs: number): Hlc => ({ ms: NOW_MS + afterMs, counter: 0, node: '0'.repeat(16) });

/** The hash of a content that is called by a letter. */
export const shaOf = (name: string): string => name.repeat(64);
export const gitShaOf = (name: string): string => name.repeat(40);

/** A content of ten bytes unless said otherwise. */
export function contentOf(name: string, sizeBytes = 10): PushedContent {
  return { sha256: shaOf(name), gitSha: gitShaOf(name), sizeBytes };
}

/** A push of `b` to notes.md by the laptop, a second after the current version, without a base. */
export function pushOf(changes: Partial<PushRequest> = {}): PushRequest {
  const hlc = changes.hlc ?? clockAt(-1000);
  return {
    path: 'notes.md',
    folded: 'notes.md',
    content: contentOf('b'),
    hlc,
    hlcText: formatHlc(hlc),
    base: { kind: 'unsaid' },
    deviceId: 'laptop',
    mtime: null,
    executable: undefined,
    resolves: undefined,
    from: undefined,
    ...changes,
  };
}

/** The current version of notes.md: content `a` of 10 bytes, pushed by the phone two seconds ago. */
export function fileOf(changes: Partial<FileRecord> = {}): FileRecord {
  return {
    path: 'notes.md',
    seq: 7,
    deleted: false,
    sha256: shaOf('a'),
    git_sha: gitShaOf('a'),
    hlc: formatHlc(clockAt(-2000)),
    size_bytes: 10,
    stored_ms: NOW_MS - 2000,
    device_id: 'phone',
    mtime: null,
    executable: false,
    line_bytes: 100,
    versions: 2,
    ...changes,
  };
}

export const TOMBSTONE: FileRecord = fileOf({ deleted: true, size_bytes: 0 });

/** A pending conflict of notes.md with content `c` of 10 bytes, from the laptop. */
export function conflictOf(id: string, changes: Partial<ConflictRecord> = {}): Conflict {
  return {
    id,
    record: {
      path: 'notes.md',
      kind: 'edit/edit',
      status: 'pending',
      device_id: 'laptop',
      your_sha256: shaOf('c'),
      your_git_sha: gitShaOf('c'),
      your_hlc: formatHlc(clockAt(-3000)),
      size_bytes: 10,
      encoding: 'utf-8',
      mtime: null,
      storage_id: 0,
      escaped_bytes: 0,
      server_seq: 7,
      server_sha256: shaOf('a'),
      server_git_sha: gitShaOf('a'),
      server_hlc: formatHlc(clockAt(-2000)),
      base_sha: null,
      detected_at: new Date(NOW_MS - 1000).toISOString(),
      settled_at: null,
      settled_seq: null,
      ...changes,
    },
  };
}

/** What the decision may ask for; by default an empty vault with room for everything. */
export interface Met {
  readonly file?: FileRecord;
  readonly pending?: readonly Conflict[];
  /** Bytes that fit beside the record that each version counts. */
  readonly roomBytes?: { readonly files?: number; readonly history?: number };
  readonly protected?: boolean;
  readonly clash?: ReturnType<PushState['clash']>;
  /** Hashes of earlier versions of the path. */
  readonly versions?: readonly string[];
  readonly conflicts?: readonly string[];
  readonly clock?: PushState['clock'];
}

/** The state that meets a push. Bytes used before: 1,000 of each kind. */
export function stateOf(met: Met = {}): PushState {
  const used = { files: 1000, history: 1000 };
  return {
    path: met.file?.path ?? 'notes.md',
    folded: 'notes.md',
    file: met.file,
    pending: met.pending ?? [],
    quotas: {
      files: used.files + (met.roomBytes?.files ?? 1e9),
      history: used.history + limits.recordCountedBytes + (met.roomBytes?.history ?? 1e9),
    },
    clock: met.clock ?? { ms: 0, counter: 0 },
    nowMs: NOW_MS,
    used: () => used,
    clash: () => met.clash,
    isProtected: () => met.protected ?? false,
    fileHlc: ({ hlc, device_id }) => parseHlc(hlc, device_id) ?? clockAt(0),
    hasConflict: (id) => (met.conflicts ?? []).includes(id),
    hasVersion: (sha) => (met.versions ?? []).includes(sha),
  };
}
