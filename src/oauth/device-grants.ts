/**
 * Runs device authorization (RFC 8628): a device requests codes, a person approves or denies by user code, the device
 * polls and receives its tokens once. Poll intervals and wrong guesses are kept in memory.
 */
import { randomBytes, randomInt } from 'node:crypto';
import type { ActorRegistry } from '../actors/registry.ts';
import { Refusal } from '../common/fault.ts';
import { widestNetwork } from '../common/networks.ts';
import { RateLimiter } from '../http/checks/gcra.ts';
import { type CountedGuesser, guessersAt, WrongTries } from '../http/checks/wrong-tries.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Sealer } from '../store/sealing/seal.ts';
import type { Store } from '../store/store.ts';
import { shownClientId } from './clients/sealed-client.ts';
import { type DeviceGrantRecord, deviceExpiries, deviceGrants, deviceUserCodes } from './records.ts';
import { decidePoll, makeUserCode, oauthRefusal, type PollPace, readUserCode, showUserCode } from './rules.ts';
import type { Device, SignIns, TokenAnswer } from './sign-ins.ts';

const DEVICE_CODE_BYTES = 32;
const ANYBODY = 'anybody';
const KEPT = 'kept';

/** Source of a user code: an address, and the account signed in there, if known. */
export interface Guesser {
  readonly address: string;
  readonly accountId?: string | undefined;
}

/** Details shown to a person before approval. */
export interface GrantDescription {
  /** In display form: `BCDF-GHJK`. */
  readonly user_code: string;
  /** Label chosen by the client; not verified. */
  readonly client: string;
  readonly device_name: string | null;
  readonly scope: string;
  /** Address of the device. */
  readonly address: string;
  readonly asked_at: string;
  readonly expires_at: string;
}

export interface NewDeviceGrant {
  readonly device_code: string;
  readonly user_code: string;
  readonly expires_in: number;
  readonly interval: number;
}

export interface DeviceGrantsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  readonly signIns: SignIns;
  readonly now: () => number;
}

interface Found {
  readonly deviceHash: string;
  readonly grant: DeviceGrantRecord;
}

export class DeviceGrants {
  readonly #options: DeviceGrantsOptions;
  readonly #wrong: WrongTries;
  /** Limits the requests of all devices together, so that few rows of unused codes accumulate. */
  readonly #requests: RateLimiter;
  /** Recognizes the first request of a network in a minute. */
  readonly #firsts: RateLimiter;
  readonly #paces = new Map<string, PollPace>();

  constructor(options: DeviceGrantsOptions) {
    this.#options = options;
    const { now } = options;
    this.#wrong = new WrongTries({ triesMax: limits.userCodeTriesMax, windowMs: limits.userCodeTriesMs, now });
    const perMinute = limits.deviceRequestsPerMinuteMax * limits.deviceRequestsKept;
    this.#requests = new RateLimiter({ perMinute, burst: perMinute }, now);
    this.#firsts = new RateLimiter({ perMinute: 1, burst: 1 }, now);
  }

  /** Starts a grant for a device; both codes are returned only here. Throws Refusal `overloaded`. */
  async start(device: Device, address: string): Promise<NewDeviceGrant> {
    const { actors, now } = this.#options;
    this.#countRequest(address);
    const deviceCode = `cdc_${randomBytes(DEVICE_CODE_BYTES).toString('base64url')}`;
    const userCode = makeUserCode((end) => randomInt(end));
    const nowMs = now();
    const grant: DeviceGrantRecord = {
      ...device,
      address,
      user_hash: this.#userHash(userCode),
      asked_ms: nowMs,
      expires_ms: nowMs + limits.deviceCodeSeconds * 1000,
      status: 'pending',
      account_id: null,
    };
    await actors.devices().ask((batch) => {
      this.#sweep(batch, nowMs);
      if (batch.get(deviceUserCodes, [grant.user_hash]) !== undefined) {
        // Probability: one in 25 thousand million per pending device.
        throw new Refusal({ kind: 'overloaded', what: 'this user code is in use', retryAfterSeconds: 1 });
      }
      put(batch, this.#deviceHash(deviceCode), grant);
    });
    return {
      device_code: deviceCode,
      user_code: showUserCode(userCode),
      expires_in: limits.deviceCodeSeconds,
      interval: limits.devicePollSeconds,
    };
  }

  /**
   * Describes the pending grant of a user code. Throws Refusal `not_found`, and `rate_limited` after too many wrong
   * guesses (RFC 8628, 5.1).
   */
  describe(userCode: string, guesser: Guesser): GrantDescription {
    return describe(this.#findPending(userCode, guessersOf(guesser)).grant, userCode);
  }

  /**
   * Approves the device for this account; it receives its tokens at its next poll. Throws Refusal `not_found`,
   * `rate_limited`, and `key_limit` when it requests a key and the account has the maximum.
   */
  async approve(userCode: string, accountId: string): Promise<GrantDescription> {
    return await this.#answer(userCode, accountId, 'approved');
  }

  /** Denies the device: its next poll ends with `access_denied`. Throws Refusal `not_found`, `rate_limited`. */
  async deny(userCode: string, accountId: string): Promise<GrantDescription> {
    return await this.#answer(userCode, accountId, 'denied');
  }

  /**
   * Answers a poll: returns the tokens once approved. The code is consumed in a separate commit before the account
   * starts the sign-in, so it never yields tokens twice; after a crash in between, the device needs a new code.
   * Throws Refusal `oauth` with an error of RFC 8628, 3.5.
   */
  async redeem(deviceCode: string, clientId: string): Promise<TokenAnswer> {
    const { store, actors, signIns, now } = this.#options;
    const deviceHash = this.#deviceHash(deviceCode);
    const decide = (grant: DeviceGrantRecord | undefined) =>
      decidePoll(grant, clientId, this.#paces.get(deviceHash), now());
    const seen = decide(store.get(deviceGrants, [deviceHash]));
    if (seen.kind === 'refused') {
      if (seen.pace !== undefined) this.#paces.set(deviceHash, seen.pace);
      throw oauthRefusal(seen.error, seen.detail);
    }
    const grant = await actors.devices().ask((batch) => {
      const found = batch.get(deviceGrants, [deviceHash]);
      if (found === undefined || decide(found).kind === 'refused') {
        throw oauthRefusal('invalid_grant', 'this device code was used');
      }
      this.#remove(batch, deviceHash, found);
      return found;
    });
    try {
      return await actors.account(seen.accountId).ask((batch) => signIns.start(batch, seen.accountId, grant));
    } catch (error) {
      // No tokens were issued, so the device may poll again. If this write fails too, the device requests a new code.
      await actors
        .devices()
        .ask((batch) => put(batch, deviceHash, grant))
        .catch(() => undefined);
      throw error;
    }
  }

  async #answer(userCode: string, accountId: string, status: 'approved' | 'denied'): Promise<GrantDescription> {
    const { deviceHash } = this.#findPending(userCode, [`account ${accountId}`]);
    return await this.#options.actors.devices().ask((batch) => {
      const grant = batch.get(deviceGrants, [deviceHash]);
      if (grant === undefined || !this.#isPending(grant)) throw noSuchDevice();
      if (status === 'approved') this.#options.signIns.checkRoom(batch, accountId, grant.scope);
      batch.put(deviceGrants, [deviceHash], { ...grant, status, account_id: accountId });
      return describe(grant, userCode);
    });
  }

  /** Finds the pending grant of a code; an unknown code counts as a wrong guess. */
  #findPending(userCode: string, guessers: readonly CountedGuesser[]): Found {
    const { store } = this.#options;
    this.#wrong.check(guessers);
    const code = readUserCode(userCode);
    const row = code === undefined ? undefined : store.get(deviceUserCodes, [this.#userHash(code)]);
    const grant = row && store.get(deviceGrants, [row.device_hash]);
    if (row === undefined || grant === undefined || !this.#isPending(grant)) {
      this.#wrong.add(guessers);
      throw noSuchDevice();
    }
    return { deviceHash: row.device_hash, grant };
  }

  /** Counts a request. Beyond the part for anybody, the first request of a network in a minute still fits. */
  #countRequest(address: string): void {
    const { deviceRequestsKept: kept } = limits;
    const isFirst = this.#firsts.take(widestNetwork(address))?.allowed !== false;
    const rate = this.#requests.take(ANYBODY, kept / (1 - kept));
    if (rate === undefined || rate.allowed) return;
    if (isFirst && this.#requests.take(KEPT)?.allowed !== false) return;
    const { retryAfterSeconds } = rate;
    throw new Refusal({ kind: 'overloaded', what: 'too many devices are signing in', retryAfterSeconds });
  }

  #isPending({ status, expires_ms }: DeviceGrantRecord): boolean {
    return status === 'pending' && expires_ms > this.#options.now();
  }

  /** Removes some grants that expired long enough ago for their devices to have been told. */
  #sweep(batch: Batch, nowMs: number): void {
    // One key at a time: most requests find nothing to remove, and then read one key and not a hundred rows.
    for (const key of batch.keysIn(deviceExpiries, { prefix: [], limit: limits.deviceSweepRowsMax })) {
      const [expiredMs, deviceHash] = key;
      if (expiredMs + limits.deviceCodeSeconds * 1000 > nowMs) break;
      const grant = batch.get(deviceGrants, [deviceHash]);
      if (grant !== undefined) this.#remove(batch, deviceHash, grant);
    }
  }

  #remove(batch: Batch, deviceHash: string, grant: DeviceGrantRecord): void {
    batch.remove(deviceGrants, [deviceHash]);
    batch.remove(deviceUserCodes, [grant.user_hash]);
    batch.remove(deviceExpiries, [grant.expires_ms, deviceHash]);
    this.#paces.delete(deviceHash);
  }

  #deviceHash(code: string): string {
    return this.#options.sealer.keyedHash('device-code', code);
  }

  #userHash(code: string): string {
    return this.#options.sealer.keyedHash('user-code', code);
  }
}

function put(batch: Batch, deviceHash: string, grant: DeviceGrantRecord): void {
  batch.put(deviceGrants, [deviceHash], grant);
  batch.put(deviceUserCodes, [grant.user_hash], { device_hash: deviceHash });
  batch.put(deviceExpiries, [grant.expires_ms, deviceHash], {});
}

function guessersOf({ address, accountId }: Guesser): readonly CountedGuesser[] {
  const places = guessersAt(address, 'address');
  return accountId === undefined ? places : [...places, `account ${accountId}`];
}

function noSuchDevice(): Refusal {
  return new Refusal({
    kind: 'not_found',
    what: 'no device is waiting with this code; check it. A code expires after ten minutes: then start again on the device',
  });
}

function describe(grant: DeviceGrantRecord, userCode: string): GrantDescription {
  return {
    user_code: showUserCode(readUserCode(userCode) ?? ''),
    client: shownClientId(grant.client_id),
    device_name: grant.device_name,
    scope: grant.scope,
    address: grant.address,
    asked_at: new Date(grant.asked_ms).toISOString(),
    expires_at: new Date(grant.expires_ms).toISOString(),
  };
}
