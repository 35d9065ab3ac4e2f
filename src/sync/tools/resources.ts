/** Offers the files of vaults as resources, and the prompt that resolves conflicts. */
import { Refusal } from '../../common/fault.ts';
import type { PromptKind } from '../../gateway/offers/prompt.ts';
import { beginningWith, type ResourceContent, type ResourceKind } from '../../gateway/offers/resource.ts';
import { beginningOf } from '../../http/reply/byte-run.ts';
import { limits } from '../../limits/service.ts';
import { foldCase } from '../../text/fold-case.ts';
import { files, folders, vaults as vaultTable } from '../log/records.ts';
import type { SyncReading } from '../reading.ts';
import { FILE_TEMPLATE, fileUri } from './uri.ts';

export function fileResources({ vaults, fileLists, pull, reader }: SyncReading): ResourceKind {
  return {
    template: FILE_TEMPLATE,
    name: 'files',
    title: 'Files of vaults',
    description: 'A file of a vault by its path; the vault is its id (vault_list)',
    madeFrom: [files],
    listedFrom: [folders, vaultTable],
    ownerOf: ({ vault }) => vault,
    listOwners: (accountId) => vaults.list(accountId).map(({ id }) => id),
    async mark(accountId, { vault, path = '' }) {
      const file = reader.file(await vaults.idOf(accountId, vault), foldCase(path));
      if (file === undefined || file.deleted) throw new Refusal({ kind: 'not_found', what: 'no such file' });
      return file.sha256 ?? '';
    },
    async list(accountId, cursor, limit) {
      const states = vaults.list(accountId);
      const [at = states[0]?.id, after] = cursor === undefined ? [] : splitCursor(cursor);
      const index = states.findIndex(({ id }) => id === at);
      if (at === undefined || index < 0) return { items: [], cursor: undefined };
      const page = await fileLists.list(
        { accountId, vaultId: at },
        { prefix: undefined, glob: undefined, includeDeleted: false, limit, after },
      );
      const items = page.files.map(({ file }) => ({
        uri: fileUri(at, file.path),
        name: file.path,
        size: file.size_bytes,
      }));
      const following = states[index + 1]?.id;
      return { items, cursor: page.next === undefined ? following : `${at}/${page.next}` };
    },
    async read(accountId, { vault = '', path = '' }) {
      const caller = { takesLines: () => false, linger: () => {} };
      const pulled = await pull.pull(accountId, { vault_id: vault, path }, caller);
      if (pulled.kind !== 'one') throw new Error('a pull of one path gave many');
      try {
        // The whole file, at most 10 MiB.
        const line = beginningOf(pulled.line, pulled.line.bytes).toString('utf8');
        return contentOf(JSON.parse(line) as { content: string; encoding?: string });
      } finally {
        pulled.line.close?.();
      }
    },
    async complete(accountId, variable, value, { vault }) {
      const ids = vaults.list(accountId).map(({ id }) => id);
      if (variable === 'vault') return beginningWith(ids, value);
      if (vault === undefined || !ids.includes(vault)) return [];
      const query = {
        prefix: value,
        glob: undefined,
        includeDeleted: false,
        limit: limits.completionsMax,
        after: undefined,
      };
      const page = await fileLists.list({ accountId, vaultId: vault }, query);
      return page.files.map(({ file }) => file.path);
    },
  };
}

export const conflictPrompts: PromptKind = {
  madeFrom: [],
  listedFrom: [],
  list: () => [
    {
      name: 'settle_conflicts',
      title: 'Settle the conflicts',
      description: 'Merges or resolves every rejected push',
      arguments: [],
    },
  ],
  text: () =>
    'Resolve the conflicts in my vaults. Find vaults with conflicts with vault_list, and list the conflicts with sync_pending_conflicts. For each one, call sync_merge with its conflict_id. If the merge has no conflicting parts, push its content with sync_push. Pass the returned base_sha, and the conflict_id as resolves. If it has marked parts, show me both sides and ask which to keep before you push. Never discard text without asking.',
};

function splitCursor(cursor: string): [string, string | undefined] {
  const at = cursor.indexOf('/');
  return at < 0 ? [cursor, undefined] : [cursor.slice(0, at), foldCase(cursor.slice(at + 1))];
}

function contentOf({ content, encoding }: { readonly content: string; readonly encoding?: string }): ResourceContent {
  if (encoding === 'base64') return { mimeType: 'application/octet-stream', blob: content };
  return { mimeType: 'text/plain', text: content };
}
