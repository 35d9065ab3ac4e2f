/** Renders the breadcrumbs: all vaults, one vault, and the folders down to a path. */
import type { VNode } from 'preact';
import type { Vault } from '../../sync/vaults/vaults.ts';
import { Given } from '../ui.tsx';
import { folderPath } from './paths.ts';

interface CrumbsProps {
  readonly vault: Vault | undefined;
  /** The folder of the last breadcrumb; empty: the vault itself. */
  readonly path?: string;
  /** Leads to the folders as they were at this time, ISO 8601. */
  readonly at?: string;
}

export function Crumbs({ vault, path = '', at }: CrumbsProps): VNode {
  const parts = path === '' ? [] : path.split('/');
  const places = parts.map((name, index) => ({ name, folder: parts.slice(0, index + 1).join('/') }));
  return (
    <nav class="crumbs" aria-label="You are here">
      <a href="/vaults">Vaults</a>
      {(vault === undefined ? [] : [{ name: vault.record.name, folder: '' }, ...places]).map(({ name, folder }) => (
        <>
          <span aria-hidden="true">/</span>
          <a href={folderPath(vault?.id ?? '', folder, { at })}>
            <Given>{name}</Given>
          </a>
        </>
      ))}
    </nav>
  );
}
