/** Saves files uploaded from a browser into a folder of a vault, each one accepted or refused separately. */

import { hash } from 'node:crypto';
import { explain, Refusal } from '../../../common/fault.ts';
import type { Reply } from '../../../http/reply/reply.ts';
import { checkPath } from '../../../sync/log/paths.ts';
import type { Vault } from '../../../sync/vaults/vaults.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Upload, UploadedFile } from '../../forms/upload.ts';
import type { MemberVisit } from '../../pages.ts';
import type { VaultOptions } from '../access.ts';
import { folderPath } from '../paths.ts';
import { writeFile } from './push.ts';

const NAMED_MAX = 5;

export async function takeUpload(
  options: VaultOptions,
  visit: MemberVisit,
  { id: vaultId }: Vault,
  { fields, files }: Upload,
): Promise<Reply> {
  const folder = fields.get('folder') ?? '';
  const isReplacing = fields.get('replace') === 'true';
  const refused: string[] = [];
  for (const file of files) {
    const why = await take(options, visit, { vaultId, folder, isReplacing }, file);
    if (why !== undefined) refused.push(`${file.name}: ${why}`);
  }
  const taken = files.length - refused.length;
  const text = [
    files.length === 0 ? 'Choose files first.' : `${countWithNoun(taken, 'file')} uploaded.`,
    ...refused.slice(0, NAMED_MAX),
    ...(refused.length > NAMED_MAX ? [`and ${refused.length - NAMED_MAX} more.`] : []),
  ].join(' ');
  const isGood = files.length > 0 && refused.length === 0;
  return options.pages.go(visit, folderPath(vaultId, folder), { text, ...(isGood ? {} : { tone: 'bad' as const }) });
}

interface Into {
  readonly vaultId: string;
  readonly folder: string;
  readonly isReplacing: boolean;
}

/** Saves one file. Returns why it was refused; undefined: it was saved. */
async function take(
  { sync }: VaultOptions,
  visit: MemberVisit,
  { vaultId, folder, isReplacing }: Into,
  { name, bytes }: UploadedFile,
): Promise<string | undefined> {
  try {
    const { path, folded } = checkPath(folder === '' ? name : `${folder}/${name}`);
    const there = sync.reader.file(vaultId, folded);
    const live = there === undefined || there.deleted ? undefined : there;
    if (live !== undefined && !isReplacing && live.sha256 !== hash('sha256', bytes)) return 'it already exists.';
    const change = { vaultId, path: live?.path ?? path, base: live?.sha256 ?? '' };
    const changed = await writeFile(sync, visit, change, bytes);
    return changed.kind === 'done'
      ? undefined
      : 'it changed at the same moment, so your version is stored as a conflict.';
  } catch (error) {
    if (error instanceof Refusal) return explain(error.fault);
    throw error;
  }
}
