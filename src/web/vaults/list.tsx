/** The pages that list: vaults, the files of one, its pending conflicts. */
import type { VNode } from 'preact';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import type { Conflict } from '../../sync/log/reader.ts';
import type { Vault, VaultState } from '../../sync/vaults/vaults.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { bytesText, Copyable, CsrfField, Empty, Given, Moment } from '../ui.tsx';
import { conflictPath, filePath, vaultPath } from './paths.ts';

interface VaultListProps {
  readonly visit: MemberVisit;
  readonly vaults: readonly VaultState[];
  readonly problem: Problem | undefined;
}

export function VaultList({ visit, vaults, problem }: VaultListProps): VNode {
  const form = 'vault';
  return (
    <>
      <div class="intro">
        <h1>Vaults</h1>
        <p class="lead">
          Folders that your devices and agents keep in step. Every version is kept; nothing is overwritten unseen.
        </p>
      </div>
      <section class="panel" aria-labelledby="vaults">
        <h2 id="vaults">Your vaults</h2>
        {vaults.length === 0 ? (
          <Empty title="No vault yet">
            <p>
              Make one below, run <code>cairn sync</code> in a folder, or let an agent do it: the tool{' '}
              <code>sync_push</code> makes the first vault with the first file.
            </p>
          </Empty>
        ) : (
          <ul class="rows">
            {vaults.map((vault) => (
              <VaultItem key={vault.id} vault={vault} visit={visit} />
            ))}
          </ul>
        )}
        <form class="inline-form" method="post" action="/vaults">
          <CsrfField csrf={visit.csrf} />
          <FormErrors form={form} problem={problem} shown={['name']} />
          <Field
            form={form}
            name="name"
            label="Name of a new vault"
            maxlength={limits.nameCharsMax}
            problem={problem}
          />
          <button class="button primary" type="submit">
            Create vault
          </button>
        </form>
      </section>
    </>
  );
}

function VaultItem({ vault, visit }: { readonly vault: VaultState; readonly visit: MemberVisit }): VNode {
  const { id, record, head } = vault;
  return (
    <li class="row">
      <div class="row-main">
        <a class="row-name" href={vaultPath(id)}>
          <Given>{record.name}</Given>
        </a>{' '}
        {record.is_primary ? <span class="badge">default</span> : null}
        <p class="meta">
          {head.files} {head.files === 1 ? 'file' : 'files'} · {bytesText(head.bytes)}
          {head.seq === 0 ? null : (
            <>
              {' '}
              · changed <Moment at={head.stored_ms} zone={visit.zone} />
            </>
          )}
        </p>
      </div>
      <ConflictsLink vaultId={id} count={head.pending} />
    </li>
  );
}

function ConflictsLink({ vaultId, count }: { readonly vaultId: string; readonly count: number }): VNode | null {
  if (count === 0) return null;
  return (
    <a class="button small" href={`${vaultPath(vaultId)}/conflicts`}>
      Settle {count} {count === 1 ? 'conflict' : 'conflicts'}
    </a>
  );
}

interface FileListProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly files: readonly FileRecord[];
  /** Where the next page begins. */
  readonly next: string | undefined;
  readonly search: string;
}

export function FileList({ visit, vault, files, next, search }: FileListProps): VNode {
  const query = (after: string) => new URLSearchParams({ ...(search === '' ? {} : { q: search }), after }).toString();
  return (
    <>
      <div class="intro">
        <Crumbs vault={undefined} />
        <h1>
          <Given>{vault.record.name}</Given>
        </h1>
        <p class="lead">
          {vault.head.files} {vault.head.files === 1 ? 'file' : 'files'}, {bytesText(vault.head.bytes)}
        </p>
      </div>
      {vault.head.pending === 0 ? null : (
        <section class="notice bad">
          <p>
            {vault.head.pending === 1 ? 'One change was' : `${vault.head.pending} changes were`} refused because the
            file had changed meanwhile. Nothing is lost; say what stays.
          </p>
          <div>
            <ConflictsLink vaultId={vault.id} count={vault.head.pending} />
          </div>
        </section>
      )}
      <section class="panel" aria-labelledby="files">
        <h2 id="files">Files</h2>
        {vault.head.files === 0 && search === '' ? (
          <Empty title="No files yet">
            <p>In a folder, on a machine that has the cairn command and is signed in with cairn login:</p>
            <Copyable
              value={`cairn sync --vault ${shellWord(vault.record.name)}`}
              label="the command of a first sync"
            />
            <p>An agent fills it as well, with the tool sync_push.</p>
          </Empty>
        ) : (
          <form class="inline-form" method="get" action={vaultPath(vault.id)}>
            <Field
              form="find"
              name="q"
              label="Find"
              required={false}
              isPlain
              value={search}
              maxlength={limits.searchCharsMax}
              hint="A part of a path, or a pattern such as *.md"
            />
            <button class="button" type="submit">
              Find
            </button>
          </form>
        )}
        {files.length === 0 ? (
          search === '' ? null : (
            <p>No file matches.</p>
          )
        ) : (
          <ul class="rows">
            {files.map((file) => (
              <li key={file.path} class="row">
                <div class="row-main">
                  <a href={filePath(vault.id, file.path)}>
                    <Given>{file.path}</Given>
                  </a>
                  <p class="meta">
                    {bytesText(file.size_bytes)} · <Moment at={file.stored_ms} zone={visit.zone} /> · by{' '}
                    <Given>{file.device_id}</Given>
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
        {next === undefined ? null : (
          <nav aria-label="Pages of files">
            <a href={`${vaultPath(vault.id)}?${query(next)}`}>More files</a>
          </nav>
        )}
      </section>
    </>
  );
}

interface ConflictListProps {
  readonly visit: MemberVisit;
  readonly vault: VaultState;
  readonly conflicts: readonly Conflict[];
  readonly cursor: string | undefined;
}

export function ConflictList({ visit, vault, conflicts, cursor }: ConflictListProps): VNode {
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} />
        <h1>Conflicts</h1>
        <p class="lead">Changes that were refused because the file had changed meanwhile. Say for each what stays.</p>
      </div>
      <section class="panel" aria-label="Pending conflicts">
        {conflicts.length === 0 ? (
          <Empty title="Nothing to settle">
            <p>
              <a href={vaultPath(vault.id)}>Back to the files</a>
            </p>
          </Empty>
        ) : (
          <ul class="rows">
            {conflicts.map(({ id, record }) => (
              <li key={id} class="row">
                <div class="row-main">
                  <a href={conflictPath(vault.id, id)}>
                    <Given>{record.path}</Given>
                  </a>
                  <p class="meta">
                    from <Given>{record.device_id}</Given> · <Moment at={record.detected_at} zone={visit.zone} />
                  </p>
                </div>
                <span class="badge warn">{record.kind}</span>
              </li>
            ))}
          </ul>
        )}
        {cursor === undefined ? null : (
          <nav aria-label="Pages of conflicts">
            <a href={`${vaultPath(vault.id)}/conflicts?cursor=${encodeURIComponent(cursor)}`}>More conflicts</a>
          </nav>
        )}
      </section>
    </>
  );
}

/** The way back up. */
export function Crumbs({ vault }: { readonly vault: Vault | undefined }): VNode {
  return (
    <nav class="crumbs" aria-label="You are here">
      <a href="/vaults">Vaults</a>
      {vault === undefined ? null : (
        <>
          <span aria-hidden="true">/</span>
          <a href={vaultPath(vault.id)}>
            <Given>{vault.record.name}</Given>
          </a>
        </>
      )}
    </nav>
  );
}

/** A name as one word of a shell. */
function shellWord(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
