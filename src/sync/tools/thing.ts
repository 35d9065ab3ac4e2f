/** Declares the files of vaults as things with an id: read by it, and searched. */
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Thing, ThingKind, ThingReader } from '../../ids/thing.ts';
import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import { nearestName } from '../../text/nearest.ts';
import { isInLineage } from '../history/lineage.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { SyncReader } from '../log/reader.ts';
import { files, vaults } from '../log/records.ts';
import type { VersionMeta } from '../log/version.ts';
import { FILE_TEMPLATE, fileUri } from './uri.ts';

export const fileThings: ThingKind = {
  kind: 'file',
  templates: [FILE_TEMPLATE],
  find(reader, accountId, { vault = '', path = '' }) {
    const vaultId = vaultIdOf(reader, accountId, vault);
    return vaultId === undefined ? undefined : `${vaultId}/${foldCase(path)}`;
  },
  read(reader, accountId, key, version) {
    const { vaultId, folded } = splitFileKey(key);
    const vault = reader.get(vaults, [accountId, vaultId]);
    const file = reader.get(files, [vaultId, folded]);
    if (vault === undefined || file === undefined) return undefined;
    if (version !== undefined && version !== file.seq) return earlierOf(reader, vaultId, vault.name, file, version);
    const live = liveFile(file);
    return live && thingOf(reader, vaultId, vault.name, live);
  },
  unknown(reader, accountId, { vault = '', path = '' }) {
    const vaultId = vaultIdOf(reader, accountId, vault);
    return vaultId === undefined ? undefined : unknownFile(reader, vaultId, path);
  },
  *keys(reader, accountId, after = '') {
    const last = splitFileKey(after);
    for (const [, vaultId] of reader.keysIn(vaults, { prefix: [accountId] })) {
      if (vaultId < last.vaultId) continue;
      const beyond = vaultId === last.vaultId ? { beyond: last.folded } : {};
      for (const [, folded] of reader.keysIn(files, { prefix: [vaultId], ...beyond })) yield `${vaultId}/${folded}`;
    }
  },
  writtenBy: [{ table: files, keyOf: ([vaultId, folded]) => `${vaultId}/${folded}` }],
  heldBy: vaults,
};

/** The vault and the folded path of a file's key. */
function splitFileKey(key: string): { readonly vaultId: string; readonly folded: string } {
  const at = key.indexOf('/');
  return { vaultId: key.slice(0, at), folded: key.slice(at + 1) };
}

/** The vault of an account with this id, or with this name in any case. */
function vaultIdOf(reader: ThingReader, accountId: string, vault: string): string | undefined {
  if (reader.get(vaults, [accountId, vault]) !== undefined) return vault;
  const all = reader.range(vaults, { prefix: [accountId] });
  return all.find(({ value }) => foldCase(value.name) === foldCase(vault))?.key[1];
}

/** A kept version of a file, or the last one of a deleted file. Throws Refusal `invalid_fields` when it is not kept. */
function earlierOf(reader: ThingReader, vaultId: string, vault: string, file: FileRecord, version: number): Thing {
  const log = new SyncReader(reader);
  const meta = isInLineage(log, vaultId, file, version) ? log.versionMeta(vaultId, version) : undefined;
  if (meta === undefined)
    throw invalidField('version', `version ${version} of ${file.path} is not kept; history shows those that are`);
  if (meta.type === 'deleted')
    throw invalidField('version', `version ${version} is where ${file.path} was deleted; read an older one`);
  const { sha256, git_sha, size_bytes, device_id } = meta;
  const then = { seq: version, sha256, git_sha, size_bytes, device_id, stored_ms: Date.parse(meta.stored_at) };
  const note = file.deleted ? 'the file is deleted now' : `now at version ${file.seq}`;
  return { ...thingOf(reader, vaultId, vault, { ...file, ...then }), note };
}

/** What to say of a path without a file: it was deleted, is a folder, or another was probably meant. */
function unknownFile(reader: ThingReader, vaultId: string, path: string): Refusal {
  const folded = foldCase(path);
  const file = reader.get(files, [vaultId, folded]);
  if (file?.deleted === true) {
    const at = new Date(file.stored_ms).toISOString();
    const moved = movedTo(reader, vaultId, file);
    const what =
      moved === undefined
        ? `${file.path} was deleted at ${at}; restore brings it back`
        : `${file.path} was moved at ${at}; it is ${moved} now`;
    return new Refusal({ kind: 'not_found', what });
  }
  if (new SyncReader(reader).childrenOf(vaultId, folded) > 0) {
    const place = JSON.stringify(fileUri(vaultId, `${path}/`));
    return invalidField('id', `${path} is a folder; list with in ${place} shows its files`);
  }
  const keys = reader.keysIn(files, { prefix: [vaultId], limit: limits.pathsGuessedMax });
  const paths = Array.from(keys, ([, one]) => one);
  const near = nearestName(folded, paths) ?? paths.find((one) => lastOf(one) === lastOf(folded));
  const guess = near === undefined ? undefined : liveFile(reader.get(files, [vaultId, near]));
  const next = guess === undefined ? 'list and search show what is there' : `did you mean ${guess.path}?`;
  return new Refusal({ kind: 'not_found', what: `no file ${path} in this vault; ${next}` });
}

/** Where a file went whose path was left by moving it, perhaps more than once. Undefined: it was deleted. */
function movedTo(reader: ThingReader, vaultId: string, left: FileRecord): string | undefined {
  const log = new SyncReader(reader);
  let file: FileRecord | undefined = left;
  for (let moves = 0; file?.deleted === true && moves < limits.movesFollowedMax; moves += 1) {
    // A move is two changes: the old path ends, then the new one begins.
    const next: VersionMeta | undefined = log.versionMeta(vaultId, file.seq + 1);
    if (next?.renamed_from === undefined || foldCase(next.renamed_from) !== foldCase(file.path)) return undefined;
    file = reader.get(files, [vaultId, foldCase(next.path)]);
  }
  return liveFile(file)?.path;
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function thingOf(reader: ThingReader, vaultId: string, vault: string, file: FileRecord): Thing {
  const { path, seq, sha256, git_sha, size_bytes: sizeBytes } = file;
  const log = new SyncReader(reader);
  const isText = log.versionHead(vaultId, seq)?.encoding === 'utf-8';
  return {
    id: fileUri(vaultId, path),
    kind: 'file',
    what: 'file',
    key: `${vaultId}/${foldCase(path)}`,
    title: lastOf(path),
    place: `${vault}/${path}`,
    path: `/vaults/${vaultId}/file?path=${encodeURIComponent(path)}`,
    mimeType: isText ? 'text/plain' : 'application/octet-stream',
    changedMs: file.stored_ms,
    changedBy: file.device_id,
    sizeBytes,
    version: seq,
    stamp: seq,
    facts: { vault, vault_id: vaultId, path, sha256, git_sha, executable: file.executable },
    text: () => (isText ? log.contentText(vaultId, seq) : undefined),
    bytes: () => log.content(vaultId, seq) ?? Buffer.alloc(0),
  };
}
