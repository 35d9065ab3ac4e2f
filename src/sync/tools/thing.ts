/** Declares the files of vaults as things with an id: read by it, and searched. */
import type { Thing, ThingKind, ThingReader } from '../../ids/thing.ts';
import { foldCase } from '../../text/fold-case.ts';
import { type FileRecord, liveFile } from '../log/file-record.ts';
import { SyncReader } from '../log/reader.ts';
import { files, vaults } from '../log/records.ts';
import { FILE_TEMPLATE, fileUri } from './uri.ts';

export const fileThings: ThingKind = {
  kind: 'file',
  templates: [FILE_TEMPLATE],
  find: (_reader, _accountId, { vault = '', path = '' }) => `${vault}/${foldCase(path)}`,
  read(reader, accountId, key) {
    const { vaultId, folded } = splitFileKey(key);
    const vault = reader.get(vaults, [accountId, vaultId]);
    const file = vault && liveFile(reader.get(files, [vaultId, folded]));
    return vault && file && thingOf(reader, vaultId, vault.name, file);
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

function thingOf(reader: ThingReader, vaultId: string, vault: string, file: FileRecord): Thing {
  const { path, seq, sha256, git_sha, size_bytes: sizeBytes } = file;
  const log = new SyncReader(reader);
  const isText = log.versionHead(vaultId, seq)?.encoding === 'utf-8';
  return {
    id: fileUri(vaultId, path),
    kind: 'file',
    key: `${vaultId}/${foldCase(path)}`,
    title: path.slice(path.lastIndexOf('/') + 1),
    place: `${vault}/${path}`,
    path: `/vaults/${vaultId}/file?path=${encodeURIComponent(path)}`,
    mimeType: isText ? 'text/plain' : 'application/octet-stream',
    changedMs: file.stored_ms,
    sizeBytes,
    stamp: seq,
    facts: { vault, vault_id: vaultId, path, sha256, git_sha, executable: file.executable },
    text: () => (isText ? log.contentText(vaultId, seq) : undefined),
  };
}
