/**
 * Imports vaults from an archive. Each log is written again version by version, with the same code as a push, so that
 * every counter follows from it. A vault cannot be reached before its account is created.
 */
import { randomBytes } from 'node:crypto';
import { type Await, type ImportTarget, importSection } from '../../archive/records.ts';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { PieceStaging } from '../contents/staging.ts';
import type { FileBytes } from '../log/file-room.ts';
import { SyncReader } from '../log/reader.ts';
import { deletedVaults, primaries, vaultOwners, vaults } from '../log/records.ts';
import { foldVaultName } from '../vaults/decision.ts';
import { PortableContents } from './contents.ts';
import { VaultImport } from './log.ts';
import { type VaultLine, vaultRecordSchema } from './records.ts';

export interface VaultsImportTools {
  readonly pool: Pool;
  readonly staging: PieceStaging;
  readonly quotas: FileBytes;
}

const SETTINGS = [
  ['files', 'CAIRN_SYNC_QUOTA_BYTES'],
  ['history', 'CAIRN_HISTORY_QUOTA_BYTES'],
] as const;

export class VaultsImport {
  readonly #target: ImportTarget;
  readonly #tools: VaultsImportTools;
  readonly #contents: PortableContents;
  readonly #reader: SyncReader;
  readonly #made: string[] = [];
  readonly #names = new Set<string>();
  #hasPrimary = false;

  constructor(target: ImportTarget, tools: VaultsImportTools) {
    this.#target = target;
    this.#tools = tools;
    this.#contents = new PortableContents({ ...target, ...tools });
    this.#reader = new SyncReader(target.store);
  }

  async read(): Promise<void> {
    const { latestMs, accountId } = this.#target;
    let current: VaultImport | undefined;
    await importSection(this.#target, 'vaults', vaultRecordSchema(latestMs), async (record, wait) => {
      if (record.type === 'vault') {
        await current?.finish();
        current = await this.#begin(record, wait);
        return;
      }
      if (current === undefined) throw invalidField('type', 'the first line must be a vault');
      await current.take(record, wait);
    });
    await current?.finish();
    const used = this.#reader.useOf(accountId);
    const { quotas } = this.#tools;
    for (const [kind, setting] of SETTINGS) {
      if (used[kind] <= quotas[kind]) continue;
      const held = `its vaults hold ${used[kind]} bytes${kind === 'history' ? ' of earlier versions' : ''}`;
      throw invalidField('archive', `${held} and ${setting} allows ${quotas[kind]}; raise it first`);
    }
  }

  /** Makes the account the owner of the vaults, within the decision that creates the account. */
  publish(batch: Batch): void {
    const { accountId } = this.#target;
    this.#contents.publish(batch);
    for (const vaultId of this.#made) batch.put(vaultOwners, [vaultId], { account_id: accountId });
  }

  discard(): Promise<void> {
    return this.#contents.discard();
  }

  /** Creates a vault. It keeps its id, unless this hub has, or is still removing, a vault with that id. */
  async #begin(line: VaultLine, wait: Await): Promise<VaultImport> {
    const { actors, accountId, store } = this.#target;
    const folded = foldVaultName(line.name);
    if (this.#names.has(folded)) throw invalidField('name', 'another vault has this name');
    if (this.#names.size >= limits.vaultsMax)
      throw invalidField('vault_id', `there are more than ${limits.vaultsMax} vaults`);
    if (line.is_primary && this.#hasPrimary) throw invalidField('is_primary', 'another vault is the primary one');
    const isKnown = [vaultOwners, deletedVaults].some((table) => store.get<[string], object>(table, [line.vault_id]));
    const isTaken = isKnown || this.#made.includes(line.vault_id);
    const vaultId = isTaken ? `v_${randomBytes(8).toString('hex')}` : line.vault_id;
    this.#names.add(folded);
    this.#made.push(vaultId);
    this.#hasPrimary ||= line.is_primary;
    const { type: _type, vault_id: _id, clock_at: _at, clock_counter: _counter, ...record } = line;
    const write = actors.account(accountId).ask((batch): void => {
      batch.put(vaults, [accountId, vaultId], record);
      if (record.is_primary) batch.put(primaries, [accountId], { vault_id: vaultId });
    });
    await wait(write);
    // The record of a vault hides it from checks until it is complete, so it is stored before the rest.
    await write;
    return new VaultImport({ ...this.#target, vaultId, contents: this.#contents }, line);
  }
}
