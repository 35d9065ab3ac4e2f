/** The page of a folder as it was at a point in time: read-only, with a form that restores it. */
import type { VNode } from 'preact';
import type { FolderAtPage } from '../../../sync/history/folder-at.ts';
import type { VaultState } from '../../../sync/vaults/vaults.ts';
import type { MemberVisit } from '../../pages.ts';
import { Ago } from '../../rendering/ago.tsx';
import { bytesText, Confirm, Form, Given, SubmitButton, Who } from '../../ui.tsx';
import { Crumbs } from '../crumbs.tsx';
import { FileTable } from '../file-table.tsx';
import { filePath, folderPath, nameOf, parentOf, vaultPath } from '../paths.ts';

export interface PastFolderProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  /** Empty: the vault itself. */
  readonly folder: string;
  /** ISO 8601. */
  readonly at: string;
  readonly page: FolderAtPage;
}

export function PastFolder({ visit, vault, folder, at, page }: PastFolderProps): VNode {
  const isVault = folder === '';
  const isEmpty = page.folders.length + page.files.length === 0;
  return (
    <>
      <div class="intro">
        <Crumbs vault={isVault ? undefined : vault} path={parentOf(folder)} at={at} />
        <h1 class={isVault ? undefined : 'path'}>
          <Given>{isVault ? vault.record.name : nameOf(folder)}</Given>
        </h1>
        <p class="lead">
          As it was on <time datetime={at}>{visit.zone.moment(at)}</time>
        </p>
      </div>
      <section class="panel" aria-labelledby="files">
        <h2 id="files">Files</h2>
        <div class="actions">
          <a class="button small" href={folderPath(vault.id, folder)}>
            Show the current files
          </a>
          <Restore visit={visit} vault={vault} folder={folder} at={at} page={page} />
        </div>
        {isEmpty ? <p>{isVault ? 'This vault' : 'This folder'} had no files then.</p> : null}
        {page.unknown === 0 ? null : (
          <p class="meta">
            {page.unknown === 1 ? '1 file is' : `${page.unknown} files are`} left out: the versions from then are no
            longer kept.
          </p>
        )}
        {isEmpty ? null : <Rows visit={visit} vault={vault} at={at} page={page} />}
        {page.next === undefined ? null : (
          <nav aria-label="Pages of files">
            <a href={folderPath(vault.id, folder, { at, after: page.next })}>More files</a>
          </nav>
        )}
      </section>
    </>
  );
}

function Rows({ visit, vault, at, page }: Omit<PastFolderProps, 'folder'>): VNode {
  return (
    <FileTable>
      {page.folders.map((path) => (
        <tr key={path}>
          <td>
            <a class="folder" href={folderPath(vault.id, path, { at })}>
              <Given>{nameOf(path)}</Given>
            </a>
          </td>
          <td />
          <td />
          <td />
        </tr>
      ))}
      {page.files.map(({ path, seq, size_bytes: bytes, stored_at: stored, device_id: device }) => (
        <tr key={path}>
          <td>
            <a href={filePath(vault.id, path, seq)}>
              <Given>{nameOf(path)}</Given>
            </a>
          </td>
          <td>{bytesText(bytes)}</td>
          <td>
            <Ago at={stored} zone={visit.zone} />
          </td>
          <td>
            <Who name={device} visit={visit} />
          </td>
        </tr>
      ))}
    </FileTable>
  );
}

function Restore({ visit, vault, folder, at }: PastFolderProps): VNode {
  const what = folder === '' ? 'vault' : 'folder';
  return (
    <Confirm label={`Restore this ${what}…`} danger={false}>
      <p>
        Files changed or deleted since then are restored, and files created since then are deleted, here and on your
        devices. Every version stays in the history, so this can be undone.
      </p>
      <Form csrf={visit.csrf} action={`${vaultPath(vault.id)}/restore-folder`}>
        <input type="hidden" name="folder" value={folder} />
        <input type="hidden" name="at" value={at} />
        <SubmitButton look="primary">Restore the {what}</SubmitButton>
      </Form>
    </Confirm>
  );
}

/** Asks for a point in time, in the reader's time zone. */
export function ChooseTime({ vault, folder, zone }: ChooseTimeProps): VNode {
  return (
    <details class="more">
      <summary class="button small">Folder at a time…</summary>
      <form class="inline-form" method="get" action={vaultPath(vault.id)}>
        {folder === '' ? null : <input type="hidden" name="folder" value={folder} />}
        <div class="field">
          <label for="past-at">Date and time ({zone})</label>
          <input id="past-at" type="datetime-local" name="at" required />
        </div>
        <SubmitButton>Show</SubmitButton>
      </form>
    </details>
  );
}

interface ChooseTimeProps {
  readonly vault: Pick<VaultState, 'id'>;
  readonly folder: string;
  /** Name of the time zone of the time. */
  readonly zone: string;
}
