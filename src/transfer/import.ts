/**
 * Imports an archive into a new account, with the part of every capability. Nobody can access the account until
 * everything is on disk and checked; then one commit creates it. An import refused or interrupted before leaves
 * nothing.
 */
import { type AccountRecord, accountImports } from '../accounts/records.ts';
import { checkName, normalizeEmail } from '../accounts/rules.ts';
import { type Accounts, type NewAccount, newAccountId } from '../accounts/service.ts';
import { importActivity } from '../activity/portable.ts';
import type { ActorRegistry } from '../actors/registry.ts';
import { damaged } from '../archive/format.ts';
import { ArchiveReader } from '../archive/reader.ts';
import { type ImportTarget, instantUpTo, nothingElse } from '../archive/records.ts';
import { noteAct, OPERATOR } from '../audit/note.ts';
import { Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import type { Importer, ImportProgress, ImportRequest } from '../control/importer.ts';
import type { ImportedAccount } from '../control/protocol.ts';
import { devDocKind } from '../documents/dev-docs/kind.ts';
import { handoffKind } from '../documents/handoffs/kind.ts';
import { paperKind } from '../documents/papers/kind.ts';
import { importDocuments } from '../documents/portable.ts';
import { limits } from '../limits/service.ts';
import { MirrorImport, type MirrorImportTools } from '../mirror/portable.ts';
import type { Batch } from '../store/group-commit.ts';
import { HUB } from '../store/owners.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { VaultsImport, type VaultsImportTools } from '../sync/portable/import.ts';
import { importTasks } from '../tasks/portable.ts';
import { isTimeZone } from '../time/zone.ts';
import { dropImports } from './leftovers.ts';

export interface ImportDestination {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly accounts: Accounts;
  /** Every table of the store. An interrupted import is removed from all of them. */
  readonly tables: readonly AnyTable[];
}

export interface ImporterOptions {
  readonly core: ImportDestination;
  readonly mirror: MirrorImportTools;
  readonly vaults: VaultsImportTools;
  readonly log: Log;
  readonly now: () => number;
}

/** Imports accounts, one after another. There is one importer per process. */
export class AccountImporter implements Importer {
  readonly #options: ImporterOptions;
  readonly #closing = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(options: ImporterOptions) {
    this.#options = options;
  }

  /**
   * Imports an archive. Throws Refusal `overloaded` while another import runs, and `invalid_fields` when the email has
   * an account or the archive is invalid (naming the line).
   */
  async run(request: ImportRequest, progress: ImportProgress): Promise<ImportedAccount> {
    if (this.#running !== undefined || this.#closing.signal.aborted) {
      const what = 'another import is running, or the service is stopping';
      throw new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.retryAfterSeconds });
    }
    const running = this.#import(request, progress);
    this.#running = running.catch(() => undefined);
    try {
      return await running;
    } finally {
      this.#running = undefined;
    }
  }

  /** Aborts a running import. Resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #import(
    { folder, email, quotas = {} }: ImportRequest,
    { tell, signal }: ImportProgress,
  ): Promise<ImportedAccount> {
    const { core, vaults, log, now } = this.#options;
    let total = 0;
    const aborted = AbortSignal.any([signal, this.#closing.signal]);
    const archive = await ArchiveReader.open(folder, (bytes) => tell(bytes, total), aborted);
    total = archive.bytesTotal;
    tell(0, total);
    const latestMs = now() + limits.archiveAheadMsMax;
    const record = readAccount(archive, email, latestMs);
    core.accounts.refuseTaken(core.store, record.email);
    await dropImports(core.store, core.tables);
    const accountId = newAccountId();
    const started = { started_at: new Date(now()).toISOString() };
    await core.store.write(HUB, (batch) => batch.put(accountImports, [accountId], started));
    const target: ImportTarget = { archive, store: core.store, actors: core.actors, accountId, latestMs };
    const parts = {
      mirror: new MirrorImport(target, this.#options.mirror),
      vaults: new VaultsImport(target, { ...vaults, quotas: { ...vaults.quotas, ...quotas } }),
    };
    let made: NewAccount;
    try {
      made = await this.#write(target, record, parts, quotas);
    } catch (error) {
      await this.#giveUp(parts);
      throw error;
    }
    // The account exists from here on, and nothing may remove its data.
    log.info({ account_id: accountId }, 'an account was imported');
    const { credential } = parts.mirror;
    return {
      ...made,
      mirror_token: credential?.token ?? null,
      mirror_secret: credential?.hmacSecret ?? null,
      records: Object.values(archive.manifest.files).reduce((sum, file) => sum + (file?.records ?? 0), 0),
      bytes: archive.bytesTotal,
    };
  }

  async #write(
    target: ImportTarget,
    record: AccountRecord,
    { mirror, vaults }: ImportParts,
    quotas: NonNullable<ImportRequest['quotas']>,
  ): Promise<NewAccount> {
    const { accountId } = target;
    const known = await importTasks(target);
    const hasCategory = (id: number) => known.has(id);
    await importDocuments(paperKind, target, hasCategory);
    await importDocuments(devDocKind, target, hasCategory);
    await importDocuments(handoffKind, target, hasCategory);
    await importActivity(target);
    await mirror.read();
    await vaults.read();
    const publish = (batch: Batch) => {
      mirror.publish(batch);
      vaults.publish(batch);
      batch.remove(accountImports, [accountId]);
      noteAct(batch, accountId, { atMs: this.#options.now(), act: 'account_imported', source: OPERATOR });
    };
    return await this.#options.core.accounts.put(accountId, record, publish, { quotas });
  }

  /**
   * Removes a failed import. What cannot be removed now (on a full or broken disk) is removed by the next import or
   * start.
   */
  async #giveUp({ mirror, vaults }: ImportParts): Promise<void> {
    try {
      await mirror.discard();
      await vaults.discard();
      const { store, tables } = this.#options.core;
      await dropImports(store, tables);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the next start removes leftovers of an import');
    }
  }
}

interface ImportParts {
  readonly mirror: MirrorImport;
  readonly vaults: VaultsImport;
}

/** Returns the account record, with the email of the archive or the operator. It has no password until one is set. */
function readAccount({ manifest }: ArchiveReader, email: string | undefined, latestMs: number): AccountRecord {
  const { account } = manifest;
  const made = instantUpTo(latestMs).safeParse(account.created_at);
  if (!made.success)
    throw damaged('manifest.json: account.created_at is not a time, or is ahead of the clock of this hub');
  const { email: exportedEmail, name: exportedName, created_at, time_zone, ...rest } = account;
  nothingElse(rest);
  const name = exportedName === null ? null : checkName('name', exportedName);
  if (time_zone !== undefined && !isTimeZone(time_zone)) {
    throw damaged('manifest.json: account.time_zone is not the IANA name of a time zone');
  }
  const record = { email: normalizeEmail(email ?? exportedEmail), name, password_hash: null, created_at };
  return time_zone === undefined ? record : { ...record, time_zone };
}
