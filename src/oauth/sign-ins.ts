/** Manages signed-in devices: starts a sign-in, exchanges its refresh token, lists and ends sign-ins. */
import { randomBytes } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { noteAct } from '../audit/note.ts';
import type { AuditedAct, Source } from '../audit/records.ts';
import { type OAuthError, Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { shownClientId } from './clients/sealed-client.ts';
import { accountSignIns, type SignInRecord, signIns } from './records.ts';
import {
  firstRefreshToken,
  nextRefreshToken,
  refreshTokenHash,
  signInIdBytes,
  signInOfToken,
} from './refresh-token.ts';
import { checkScopeWithin, decideRefresh, isReadOnly, isSignInOver, oauthRefusal } from './rules.ts';

const NONCE_BYTES = 16;

/** Account operations for a sign-in; each runs within a decision. */
interface AccountTools {
  /** True when the account currently allows sign-in. */
  readonly isOpen: (accountId: string) => boolean;
  /** Creates an access token that ends with the sign-in. */
  readonly mintToken: (batch: Batch, accountId: string, signInId: string, scope: TokenScope) => AccessToken;
  readonly endTokens: (batch: Batch, accountId: string, signInId: string) => void;
  /** Creates an MCP key. Throws Refusal `key_limit`. */
  readonly addKey: (batch: Batch, accountId: string, name: string, source: Source) => DeviceKey;
  /** Revokes a key; one that no longer works is not an error. */
  readonly endKey: (batch: Batch, accountId: string, keyId: string, source: Source) => void;
  /** Throws Refusal `key_limit` when the account has the maximum of keys. */
  readonly checkKeyRoom: (reader: Reader, accountId: string) => void;
}

interface DeviceKey {
  readonly key_id: string;
  readonly mcp_key: string;
}

/** Access rights of a token. */
interface TokenScope {
  readonly readOnly: boolean;
}

interface AccessToken {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
}

/** Successful response of the token endpoint (RFC 6749, 5.1). */
export interface TokenAnswer extends AccessToken {
  readonly refresh_token: string;
  readonly scope: string;
  readonly mcp_key?: string;
}

/** The device signing in, self-reported. */
export interface Device {
  readonly client_id: string;
  readonly device_name: string | null;
  readonly scope: string;
  /** True: authorized in a browser, for a client. */
  readonly via_browser?: boolean;
  /** Address of the device. */
  readonly address?: string;
}

export interface SignInSummary extends Device {
  readonly sign_in_id: string;
  /** The MCP key that ends with it. */
  readonly key_id?: string;
  readonly created_at: string;
  readonly used_at: string;
  /** Expiry unless it is used before. */
  readonly expires_at: string;
}

export interface SignInsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly account: AccountTools;
  readonly log: Log;
  /** Of the data file: another one after each restore. */
  readonly epoch: string;
  readonly now: () => number;
}

interface Presented {
  readonly token: string;
  readonly hash: string;
  readonly clientId: string;
  readonly scope: string | undefined;
}

type Exchange = { readonly ok: true; readonly answer: TokenAnswer } | { readonly ok: false; readonly why: Ended };
type Ended = 'replay' | 'restored' | 'expired' | 'ended' | 'foreign' | 'disabled';

const REFUSALS: Readonly<Record<Ended, string>> = {
  replay: 'this refresh token was used before, so its sign-in has ended; sign in again',
  restored:
    'this hub was restored from a backup, which does not have this refresh token, so its sign-in has ended; sign in again',
  expired: 'this refresh token has expired; sign in again',
  ended: 'this refresh token is unknown or its sign-in has ended; sign in again',
  disabled: 'this account is disabled; ask the operator of this hub to enable it',
  foreign: 'this refresh token was issued to another client_id',
};

export class SignIns {
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  /** Within a decision: starts a sign-in. The tokens and the key are returned only here. */
  start(batch: Batch, accountId: string, device: Device): TokenAnswer {
    return this.begin(batch, accountId, device).answer;
  }

  /** As `start`; also returns the sign-in id. */
  begin(batch: Batch, accountId: string, device: Device): { readonly signInId: string; readonly answer: TokenAnswer } {
    const { sealer, account, now } = this.#options;
    if (!account.isOpen(accountId)) throw invalidGrant('disabled');
    this.#makeRoom(batch, accountId);
    const signInId = randomBytes(signInIdBytes).toString('hex');
    const token = firstRefreshToken(sealer, signInId, randomBytes);
    const nowMs = now();
    const source = { by: 'client', address: device.address ?? null, agent: shownClientId(device.client_id) } as const;
    const key = device.scope.split(' ').includes('mcp')
      ? account.addKey(batch, accountId, keyName(device, nowMs), source)
      : undefined;
    const record: SignInRecord = {
      account_id: accountId,
      client_id: device.client_id,
      device_name: device.device_name,
      scope: device.scope,
      ...(key === undefined ? {} : { key_id: key.key_id }),
      ...(device.via_browser === true ? { via_browser: true } : {}),
      created_at: new Date(nowMs).toISOString(),
      used_at: new Date(nowMs).toISOString(),
      current_hash: refreshTokenHash(sealer, token),
      previous: null,
      rotated_ms: nowMs,
      epoch: this.#options.epoch,
      expires_ms: expiryOf(nowMs, nowMs),
    };
    batch.put(signIns, [signInId], record);
    batch.put(accountSignIns, [accountId, signInId], {});
    const act = device.via_browser === true ? 'app_connected' : 'device_signed_in';
    this.#note(batch, accountId, act, source, device.device_name);
    const answer = {
      ...account.mintToken(batch, accountId, signInId, { readOnly: isReadOnly(device.scope) }),
      refresh_token: token,
      scope: device.scope,
      ...(key === undefined ? {} : { mcp_key: key.mcp_key }),
    };
    return { signInId, answer };
  }

  /** Throws Refusal `key_limit` when the scope includes a key and the account has the maximum. */
  checkRoom(reader: Reader, accountId: string, scope: string): void {
    if (scope.split(' ').includes('mcp')) this.#options.account.checkKeyRoom(reader, accountId);
  }

  /** Exchanges a refresh token for the next pair. Throws Refusal `oauth` with `invalid_grant` or `invalid_scope`. */
  async refresh(token: string, clientId: string, scope: string | undefined): Promise<TokenAnswer> {
    const { store, actors, sealer, log } = this.#options;
    const signInId = signInOfToken(sealer, token);
    const seen = signInId === undefined ? undefined : store.get(signIns, [signInId]);
    if (signInId === undefined || seen === undefined) throw invalidGrant('ended');
    const presented = { token, hash: refreshTokenHash(sealer, token), clientId, scope };
    if (!this.#options.account.isOpen(seen.account_id)) throw invalidGrant('disabled');
    const done = await actors
      .account(seen.account_id)
      .ask((batch): Exchange => this.#exchange(batch, signInId, presented));
    if (done.ok) return done.answer;
    if (done.why === 'replay') {
      log.warn({ account_id: seen.account_id, sign_in: signInId }, 'a refresh token was reused; its sign-in was ended');
    }
    throw invalidGrant(done.why);
  }

  /** Ends the sign-in of a refresh token, used or not; an unknown one is not an error (RFC 7009, 2.2). */
  async revoke(token: string, clientId: string | undefined): Promise<void> {
    const { store, actors, sealer } = this.#options;
    const signInId = signInOfToken(sealer, token);
    const seen = signInId === undefined ? undefined : store.get(signIns, [signInId]);
    if (signInId === undefined || seen === undefined) return;
    if (clientId !== undefined && clientId !== seen.client_id) throw invalidGrant('foreign');
    await actors.account(seen.account_id).ask((batch) => {
      this.#remove(batch, seen.account_id, signInId);
      this.#note(batch, seen.account_id, 'device_signed_out', clientOf(seen), seen.device_name);
    });
  }

  /** Lists the signed-in devices of an account, most recently used first. */
  list(accountId: string): SignInSummary[] {
    return this.#ofAccount(this.#options.store, accountId)
      .filter(({ record }) => !isSignInOver(record, this.#options.now()))
      .sort((a, b) => b.record.used_at.localeCompare(a.record.used_at))
      .map(({ signInId, record }) => ({
        sign_in_id: signInId,
        client_id: shownClientId(record.client_id),
        device_name: record.device_name,
        scope: record.scope,
        ...(record.key_id === undefined ? {} : { key_id: record.key_id }),
        ...(record.via_browser === true ? { via_browser: true } : {}),
        created_at: record.created_at,
        used_at: record.used_at,
        expires_at: new Date(record.expires_ms).toISOString(),
      }));
  }

  /** Returns the name of a signed-in device or app; undefined: the sign-in has ended. */
  nameOf(signInId: string): string | undefined {
    const record = this.#options.store.get(signIns, [signInId]);
    return record === undefined ? undefined : nameOf(record);
  }

  /** Ends one sign-in of an account with all that the device got: access tokens and MCP key. Throws Refusal `not_found`. */
  async end(accountId: string, signInId: string, source: Source): Promise<void> {
    await this.#options.actors.account(accountId).ask((batch) => {
      if (batch.get(accountSignIns, [accountId, signInId]) === undefined) {
        throw new Refusal({ kind: 'not_found', what: 'this account has no signed-in device with this id' });
      }
      const record = batch.get(signIns, [signInId]);
      this.#note(batch, accountId, 'device_signed_out', source, record && nameOf(record));
      if (record?.key_id !== undefined) this.#options.account.endKey(batch, accountId, record.key_id, source);
      this.#remove(batch, accountId, signInId);
    });
  }

  #exchange(batch: Batch, signInId: string, presented: Presented): Exchange {
    const { sealer, account, epoch, now } = this.#options;
    const nowMs = now();
    const record = batch.get(signIns, [signInId]);
    const decision = decideRefresh(record, presented, nowMs, epoch);
    if (record === undefined) return { ok: false, why: 'ended' };
    if (decision !== 'rotate' && decision !== 'retry') {
      if (decision === 'replay') {
        this.#note(batch, record.account_id, 'refresh_token_replayed', clientOf(record), record.device_name);
      }
      if (decision === 'restored') {
        this.#note(batch, record.account_id, 'device_signed_out', clientOf(record), record.device_name);
      }
      if (decision !== 'foreign') this.#remove(batch, record.account_id, signInId);
      return { ok: false, why: decision };
    }
    checkScopeWithin(record.scope, presented.scope);
    const nonce = decision === 'rotate' ? randomBytes(NONCE_BYTES).toString('hex') : (record.previous?.nonce ?? '');
    const next = nextRefreshToken(sealer, signInId, presented.token, nonce);
    const previous = { hash: presented.hash, nonce, isRetried: decision === 'retry' };
    const renewed =
      decision === 'retry'
        ? { previous }
        : {
            previous,
            used_at: new Date(nowMs).toISOString(),
            current_hash: refreshTokenHash(sealer, next),
            rotated_ms: nowMs,
            epoch,
            expires_ms: expiryOf(Date.parse(record.created_at), nowMs),
          };
    batch.put(signIns, [signInId], { ...record, ...renewed });
    const minted = account.mintToken(batch, record.account_id, signInId, { readOnly: isReadOnly(record.scope) });
    return { ok: true, answer: { ...minted, refresh_token: next, scope: record.scope } };
  }

  /** Removes expired sign-ins and, above the maximum per account, the least recently used devices. */
  #makeRoom(batch: Batch, accountId: string): void {
    const all = this.#ofAccount(batch, accountId).sort((a, b) => a.record.used_at.localeCompare(b.record.used_at));
    const expired = all.filter(({ record }) => isSignInOver(record, this.#options.now()));
    const live = all.filter((one) => !expired.includes(one));
    const surplus = live.slice(0, Math.max(0, live.length + 1 - limits.signInsMax));
    for (const { signInId } of [...expired, ...surplus]) this.#remove(batch, accountId, signInId);
  }

  #remove(batch: Batch, accountId: string, signInId: string): void {
    batch.remove(signIns, [signInId]);
    batch.remove(accountSignIns, [accountId, signInId]);
    this.#options.account.endTokens(batch, accountId, signInId);
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source, detail: string | null | undefined): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source, detail });
  }

  #ofAccount(reader: Reader, accountId: string): { readonly signInId: string; readonly record: SignInRecord }[] {
    return reader.range(accountSignIns, { prefix: [accountId] }).flatMap(({ key: [, signInId] }) => {
      const record = reader.get(signIns, [signInId]);
      return record === undefined ? [] : [{ signInId, record }];
    });
  }
}

/** The time at which a refresh token issued now expires: with its sign-in at the latest. */
function expiryOf(createdMs: number, nowMs: number): number {
  return Math.min(nowMs + limits.refreshTokenSeconds * 1000, createdMs + limits.deviceSignInSeconds * 1000);
}

/** Audit source of a client that presented its refresh token; its address is in the request log. */
function clientOf({ client_id }: SignInRecord): Source {
  return { by: 'client', address: null, agent: shownClientId(client_id) };
}

function invalidGrant(why: Ended): Refusal {
  const error: OAuthError = 'invalid_grant';
  return oauthRefusal(error, REFUSALS[why]);
}

function nameOf({ device_name, client_id }: Pick<Device, 'device_name' | 'client_id'>): string {
  return device_name ?? shownClientId(client_id);
}

/** Returns the name of a device's key in the list of keys. */
function keyName(device: Device, nowMs: number): string {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return `${day} ${nameOf(device)}`.slice(0, limits.nameCharsMax).trim();
}
