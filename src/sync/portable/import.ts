/**
 * Reads vaults out of an archive: each log is written again as it was, version by version, by the same code that a push
 * goes through, so that every counter follows from it. Nobody reaches a vault before its account is made.
 */
import { randomBytes } from 'node:crypto';
import { type Await, type ImportTarget, importSection } from '../../archive/records.ts';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Pool } from '../../pool/pool.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { PieceStaging } from '../contents/staging.ts';
import type { Changes } from '../log/changes.ts';
import type { FileBytes } from '../log/file-room.ts';
import { SyncReader } from '../log/reader.ts';
import { deletedVaults, primaries, type VaultRecord, vaultOwners, vaults } from '../log/records.ts';
import { foldVaultName } from '../vaults/vaults.ts';
import { PortableContents } from './contents.ts';
import { VaultImport } from './log.ts';
import { type VaultLine, vaultRecordSchema } from './records.ts';

export interface VaultsImportTools {
  readonly pool: Pool;
  readonly staging: PieceStaging;
  readonly quotas: FileBytes;
  /** Who is told of the vaults once their account is there. */
  readonly changes: Changes;
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
      if (current === undefined) throw invalidField('type', 'a vault comes first');
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

  /** Within the decision that makes the account: the vaults are its. */
  publish(batch: Batch): void {
    const { accountId } = this.#target;
    this.#contents.publish(batch);
    for (const vaultId of this.#made) batch.put(vaultOwners, [vaultId], { account_id: accountId });
  }

  /** Once the account is there: what works on vaults in the background takes them up. */
  announce(): void {
    for (const vaultId of this.#made) this.#tools.changes.tell(vaultId, this.#reader.head(vaultId).seq);
  }

  /** Gives up what was staged. */
  discard(): Promise<void> {
    return this.#contents.discard();
  }

  /** A vault keeps its id, unless this hub has one of it. */
  async #begin(line: VaultLine, wait: Await): Promise<VaultImport> {
    const { actors, accountId, store } = this.#target;
    const folded = foldVaultName(line.name);
    if (this.#names.has(folded)) throw invalidField('name', 'there is already a vault with this name');
    if (this.#names.size >= limits.vaultsMax) throw invalidField('vault_id', `there are more than ${limits.vaultsMax}`);
    if (line.is_primary && this.#hasPrimary) throw invalidField('is_primary', 'there is a primary vault already');
    const isKnown = [vaultOwners, deletedVaults].some((table) => store.get<[string], object>(table, [line.vault_id]));
    const isTaken = isKnown || this.#made.includes(line.vault_id);
    const vaultId = isTaken ? `v_${randomBytes(8).toString('hex')}` : line.vault_id;
    this.#names.add(folded);
    this.#made.push(vaultId);
    this.#hasPrimary ||= line.is_primary;
    const { name, is_primary, created_at, protected_paths } = line;
    const record: VaultRecord = { name, is_primary, created_at, protected_paths };
    const write = actors.account(accountId).ask((batch): void => {
      batch.put(vaults, [accountId, vaultId], record);
      if (is_primary) batch.put(primaries, [accountId], { vault_id: vaultId });
    });
    await wait(write);
    // What hides a vault from checks until it is whole must be there before anything of it.
    await write;
    return new VaultImport({ ...this.#target, vaultId, contents: this.#contents }, line);
  }
}
