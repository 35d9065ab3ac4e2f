/** The page of one folder of a vault, and the page of search results in a vault. */

import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import type { FolderSum } from '../../sync/pull/folder-sums.ts';
import type { FolderPage as Listed, Subfolder } from '../../sync/pull/folders.ts';
import type { VaultState } from '../../sync/vaults/vaults.ts';
import { countWithNoun } from '../../text/count.ts';
import type { MemberVisit } from '../pages.ts';
import { Ago } from '../rendering/ago.tsx';
import { bytesText, Copyable, CsrfField, Empty, Given, SubmitButton, Who } from '../ui.tsx';
import { Crumbs } from './crumbs.tsx';
import { FileTable } from './file-table.tsx';
import { ConflictsLink } from './list.tsx';
import { ChooseTime } from './past/page.tsx';
import { filePath, folderPath, nameOf, newFilePath, parentOf, tarPath, vaultPath } from './paths.ts';

interface FolderPageProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  /** Empty: the vault itself. */
  readonly folder: string;
  readonly page: Listed;
  readonly sums: ReadonlyMap<string, FolderSum>;
}

export function FolderContents({ visit, vault, folder, page, sums }: FolderPageProps): VNode {
  const { folders, files, next } = page;
  const isVault = folder === '';
  const isEmpty = folders.length + files.length === 0;
  return (
    <>
      <div class="intro">
        <Crumbs vault={isVault ? undefined : vault} path={parentOf(folder)} />
        <h1 class={isVault ? undefined : 'path'}>
          <Given>{isVault ? vault.record.name : nameOf(folder)}</Given>
        </h1>
        {isVault ? <p class="lead">{amountOf(vault)}</p> : null}
      </div>
      <Pending vault={vault} />
      <section class="panel" aria-labelledby="files">
        <div class="panel-head">
          <h2 id="files">Files</h2>
          {vault.head.files === 0 ? null : <Find vault={vault} search="" />}
        </div>
        <FolderActions visit={visit} vault={vault} folder={folder} isEmpty={isEmpty} />
        {vault.head.files === 0 ? <EmptyVault vault={vault} /> : null}
        {isEmpty && vault.head.files > 0 && next === undefined ? <p>This folder is empty.</p> : null}
        {isEmpty ? null : (
          <FileTable>
            {folders.map((one) => (
              <FolderRow key={one.path} visit={visit} vault={vault} sum={sums.get(one.path)} {...one} />
            ))}
            {files.map((file) => (
              <FileRow key={file.path} visit={visit} vault={vault} file={file} name={nameOf(file.path)} />
            ))}
          </FileTable>
        )}
        {next === undefined ? null : (
          <nav aria-label="Pages of files">
            <a href={folderPath(vault.id, folder, { after: next })}>More files</a>
          </nav>
        )}
      </section>
    </>
  );
}

interface FoundPageProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly files: readonly FileRecord[];
  readonly next: string | undefined;
  readonly search: string;
}

export function FoundPage({ visit, vault, files, next, search }: FoundPageProps): VNode {
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} />
        <h1>Find files</h1>
      </div>
      <section class="panel" aria-labelledby="files">
        <div class="panel-head">
          <h2 id="files">Found</h2>
          <Find vault={vault} search={search} />
        </div>
        {files.length === 0 ? (
          <p>{next === undefined ? 'No file matches.' : 'No file matches so far.'}</p>
        ) : (
          <FileTable>
            {files.map((file) => (
              <FileRow key={file.path} visit={visit} vault={vault} file={file} name={file.path} />
            ))}
          </FileTable>
        )}
        {next === undefined ? null : (
          <nav aria-label="Pages of files">
            <a href={`${vaultPath(vault.id)}?${new URLSearchParams({ q: search, after: next })}`}>More files</a>
          </nav>
        )}
      </section>
    </>
  );
}

interface FolderActionsProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly folder: string;
  readonly isEmpty: boolean;
}

function FolderActions({ visit, vault, folder, isEmpty }: FolderActionsProps): VNode {
  const { id } = vault;
  return (
    <div class="actions">
      <a class="button small" href={newFilePath(id, folder)}>
        New file
      </a>
      {isEmpty ? null : (
        <a class="button small" href={tarPath(id, folder)} download>
          Download folder
        </a>
      )}
      {vault.head.seq === 0 ? null : <ChooseTime vault={vault} folder={folder} zone={visit.zone.name} />}
      <details class="more">
        <summary class="button small">Upload</summary>
        <form class="stack" method="post" action={`${vaultPath(id)}/upload`} enctype="multipart/form-data" data-upload>
          <CsrfField csrf={visit.csrf} />
          <input type="hidden" name="folder" value={folder} />
          <div class="field">
            <label for="upload-files">Files</label>
            <p class="hint" id="upload-hint">
              At most {limits.fileBytesMax / 2 ** 20} MiB each, {limits.uploadFormBytesMax / 2 ** 20} MiB together. With
              JavaScript, you can also drop files on this page.
            </p>
            <input
              id="upload-files"
              type="file"
              name="files"
              multiple
              required
              aria-describedby="upload-hint"
              data-most={`${limits.fileBytesMax} ${limits.uploadFormBytesMax} ${limits.uploadFilesMax}`}
            />
          </div>
          <label class="check">
            <input type="checkbox" name="replace" value="true" />
            Replace files of the same name (their history is kept)
          </label>
          <div>
            <SubmitButton look="primary">Upload</SubmitButton>
          </div>
        </form>
      </details>
    </div>
  );
}

function amountOf({ head }: VaultState): string {
  return `${countWithNoun(head.files, 'file')}, ${bytesText(head.bytes)}`;
}

function Pending({ vault }: { readonly vault: VaultState }): VNode | null {
  const { pending } = vault.head;
  if (pending === 0) return null;
  return (
    <section class="notice bad">
      <p>
        {pending === 1 ? '1 change conflicts with a newer version' : `${pending} changes conflict with newer versions`}.
        Nothing was lost. Choose which to keep.
      </p>
      <div>
        <ConflictsLink vaultId={vault.id} count={pending} />
      </div>
    </section>
  );
}

function Find({ vault, search }: { readonly vault: VaultState; readonly search: string }): VNode {
  return (
    <form class="find" method="get" action={vaultPath(vault.id)}>
      <input
        type="search"
        name="q"
        aria-label="Find files by a part of the path, or a pattern such as *.md"
        placeholder="Part of a path, or *.md"
        value={search}
      />
      <SubmitButton>Find</SubmitButton>
    </form>
  );
}

interface FolderRowProps extends Subfolder {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly sum: FolderSum | undefined;
}

function FolderRow({ visit, vault, path, children, sum }: FolderRowProps): VNode {
  const newest = sum?.newest;
  return (
    <tr>
      <td>
        <a class="folder" href={folderPath(vault.id, path)}>
          <Given>{nameOf(path)}</Given>
        </a>
      </td>
      <td>
        {sum === undefined ? null : `${sum.isWhole ? '' : 'over '}${bytesText(sum.bytes)}`}
        <span class="items"> · {countWithNoun(children, 'item')}</span>
      </td>
      <td>{newest === undefined ? null : <Ago at={newest.storedMs} zone={visit.zone} />}</td>
      <td>{newest === undefined ? null : <Who name={newest.deviceId} visit={visit} />}</td>
    </tr>
  );
}

interface FileRowProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly file: FileRecord;
  readonly name: string;
}

function FileRow({ visit, vault, file, name }: FileRowProps): VNode {
  return (
    <tr>
      <td>
        <a href={filePath(vault.id, file.path)}>
          <Given>{name}</Given>
        </a>
      </td>
      <td>{bytesText(file.size_bytes)}</td>
      <td>
        <Ago at={file.stored_ms} zone={visit.zone} />
      </td>
      <td>
        <Who name={file.device_id} visit={visit} />
      </td>
    </tr>
  );
}

function EmptyVault({ vault }: { readonly vault: VaultState }): VNode {
  return (
    <Empty title="No files yet">
      <p>In a folder, on a machine that has the cairn command and is signed in with cairn login:</p>
      <Copyable value={`cairn sync --vault ${shellWord(vault.record.name)}`} label="the command of a first sync" />
      <p>Agents can fill it too, with the tool sync_push.</p>
    </Empty>
  );
}

/** Quotes a name as one word of a shell. */
function shellWord(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
