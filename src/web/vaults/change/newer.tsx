/** Tells an editor that its file changed since it was opened, and what changed. */
import type { VNode } from 'preact';
import type { FileRecord } from '../../../sync/log/file-record.ts';
import type { Vault } from '../../../sync/vaults/vaults.ts';
import type { MemberVisit } from '../../pages.ts';
import { Ago } from '../../rendering/ago.tsx';
import { Who } from '../../ui.tsx';
import { isYou } from '../../visit.ts';
import type { VaultOptions } from '../access.ts';
import { type Difference, DifferenceView, differenceOf } from '../compare/changes.tsx';
import { versionOf } from '../files.ts';
import { editPath } from '../paths.ts';

/** The newest version of a file that is being edited, and its difference from the version that was opened. */
export interface Newer {
  readonly file: FileRecord;
  /** Undefined: the file was deleted. */
  readonly difference: Difference | undefined;
  /** Numbers of the two versions for people. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** What changed since version `seq`, whose hash is `base`. Undefined: the content is still the same. */
export async function newerThan(
  { sync }: VaultOptions,
  { accountId }: MemberVisit,
  vaultId: string,
  { file, seq, base }: { readonly file: FileRecord; readonly seq: number; readonly base: string },
): Promise<Newer | undefined> {
  if (!file.deleted && file.sha256 === base) return undefined;
  const numbers = await sync.history.numbersOf(accountId, vaultId, file);
  const sideOf = (at: number) => versionOf(sync, vaultId, file, at);
  const difference = file.deleted
    ? undefined
    : await differenceOf({ sync }, accountId, [sideOf(seq), sideOf(file.seq)]);
  return { file, difference, from: numbers.get(seq), to: numbers.get(file.seq) };
}

interface NewerNoticeProps {
  readonly visit: MemberVisit;
  readonly vault: Vault;
  readonly newer: Newer;
}

export function NewerNotice({ visit, vault, newer: { file, difference, from, to } }: NewerNoticeProps): VNode {
  const act = difference === undefined ? 'deleted' : 'changed';
  return (
    <section class="panel" aria-label="Changed since you opened it">
      <p>
        <strong>
          <Who name={file.device_id} visit={visit} isFirst /> {act} this file
          {isYou(visit, file.device_id) ? ' in another window' : ''}
        </strong>{' '}
        <Ago at={file.stored_ms} zone={visit.zone} />. Your text here is kept.{' '}
        {difference === undefined
          ? 'When you save, you choose between the two.'
          : 'When you save, both changes are merged; where they overlap, you choose.'}
      </p>
      {difference === undefined ? null : (
        <>
          <details>
            <summary id="differences">See what changed</summary>
            <DifferenceView difference={difference} from={from} to={to} />
          </details>
          <p>
            <a href={editPath(vault.id, file.path, file.seq)}>Edit the new version instead</a>
          </p>
        </>
      )}
    </section>
  );
}
