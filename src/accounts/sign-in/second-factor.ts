/**
 * Manages the second factor of an account: time-based codes (TOTP, RFC 6238) of an authenticator app, and ten
 * single-use recovery codes. The secret is sealed at rest, recovery codes are stored as keyed hashes, and each code is
 * accepted once.
 */
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import type { AuditedAct, Source } from '../../audit/records.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import { guessersAt, WrongTries } from '../../http/checks/wrong-tries.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';
import { type SecondFactorRecord, secondFactors } from './records.ts';

const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** Clocks may differ by one period either way (RFC 6238, 5.2). */
const WINDOW = 1;
const FIELD = 'second factor';
/** Without look-alike letters and digits: 24 of 32 characters are 120 bits. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const RECOVERY_CHARS = 24;

export interface NewSecondFactor {
  /** Base32, for typing into an authenticator app. */
  readonly secret: string;
  /** The same secret as an `otpauth:` URI. */
  readonly uri: string;
}

export interface SecondFactorsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly sealer: Sealer;
  /** True when the operator of the hub requires it of an account. */
  readonly isRequired: (accountId: string) => boolean;
  readonly now: () => number;
}

export class SecondFactors {
  readonly #options: SecondFactorsOptions;
  readonly #wrong: WrongTries;
  readonly #wrongOfAccount: WrongTries;

  constructor(options: SecondFactorsOptions) {
    this.#options = options;
    const window = { windowMs: limits.codeTriesMs, now: options.now };
    this.#wrong = new WrongTries({ ...window, triesMax: limits.codeTriesMax });
    this.#wrongOfAccount = new WrongTries({ ...window, triesMax: limits.codeTriesOfAccountMax });
  }

  /** Returns whether password sign-in requires a code, and the number of unused recovery codes. */
  stateOf(accountId: string): { readonly isOn: boolean; readonly recoveryCodes: number } {
    const found = this.#options.store.get(secondFactors, [accountId]);
    return { isOn: found?.on_since != null, recoveryCodes: found?.recovery.length ?? 0 };
  }

  /** True when the account may do nothing else before it has set up a second factor. */
  mustSetUp(accountId: string): boolean {
    return this.#options.isRequired(accountId) && !this.stateOf(accountId).isOn;
  }

  /** True when the account must keep its second factor. */
  isRequired(accountId: string): boolean {
    return this.#options.isRequired(accountId);
  }

  /** Creates an unconfirmed secret, not used at sign-in yet; replaces an earlier unconfirmed one. */
  async begin(accountId: string, email: string): Promise<NewSecondFactor> {
    const plain = randomBytes(SECRET_BYTES);
    const secret = this.#options.sealer.sealRandom(accountId, FIELD, plain);
    await this.#options.actors.account(accountId).ask((batch) => {
      if (batch.get(secondFactors, [accountId])?.on_since != null) throw alreadyOn();
      batch.put(secondFactors, [accountId], { secret, on_since: null, last_step: 0, recovery: [] });
    });
    const totp = totpOf(plain, email);
    return { secret: totp.secret.base32, uri: totp.toString() };
  }

  /** Returns the unconfirmed secret; undefined: none. */
  pending(accountId: string, email: string): NewSecondFactor | undefined {
    const found = this.#options.store.get(secondFactors, [accountId]);
    if (found === undefined || found.on_since !== null) return undefined;
    const totp = totpOf(this.#secretOf(accountId, found), email);
    return { secret: totp.secret.base32, uri: totp.toString() };
  }

  /** Turns the second factor on with a first code. Resolves with the recovery codes, returned only here. */
  async confirm(accountId: string, code: string, source: Source): Promise<readonly string[]> {
    const recovery = newRecoveryCodes();
    await this.#options.actors.account(accountId).ask((batch): void => {
      this.#wrong.check([accountId]);
      const found = batch.get(secondFactors, [accountId]);
      if (found === undefined || found.on_since !== null) throw alreadyOn();
      const step = this.#stepOf(accountId, found, code);
      if (step === undefined) {
        this.#wrong.add([accountId]);
        // There is no recovery code yet, and no code was used.
        throw invalidField(
          'code',
          'this code is wrong; scan the code on this page, and let your phone set its clock automatically',
        );
      }
      const nowMs = this.#options.now();
      const hashes = recovery.map((one) => this.#hash(accountId, one));
      batch.put(secondFactors, [accountId], {
        ...found,
        on_since: new Date(nowMs).toISOString(),
        last_step: step,
        recovery: hashes,
      });
      this.#note(batch, accountId, 'second_factor_on', source);
    });
    return recovery;
  }

  /**
   * Checks a code of the app or a recovery code, and marks it as used. Attempts are counted within the decision: an
   * account decides one after another, so concurrent attempts gain nothing. Whoever knows the password can use up the
   * tries of the account, but not those of a known browser, nor of recovery codes, which nobody can guess.
   * `known`: names a browser that has signed in to this account before. Throws Refusal `invalid_fields` (`code`), and
   * `rate_limited` after too many wrong codes.
   */
  async use(accountId: string, code: string, source: Source, known?: string): Promise<void> {
    const own = known === undefined ? [] : [`${accountId} known ${known}`];
    const isKnown = own.length > 0 && !this.#wrong.isOver(own[0] ?? '');
    const guessers = isKnown ? own : guessersAt(source.address ?? '', accountId);
    await this.#options.actors.account(accountId).ask((batch): void => {
      this.#wrong.check(guessers);
      const found = batch.get(secondFactors, [accountId]);
      if (found === undefined || found.on_since === null) return;
      const hash = this.#hash(accountId, code);
      if (found.recovery.includes(hash)) {
        batch.put(secondFactors, [accountId], { ...found, recovery: found.recovery.filter((one) => one !== hash) });
        this.#note(batch, accountId, 'recovery_code_used', source);
        return;
      }
      if (!isKnown) this.#wrongOfAccount.check([accountId]);
      const step = this.#stepOf(accountId, found, code);
      if (step === undefined) {
        this.#wrong.add(guessers);
        if (!isKnown) this.#wrongOfAccount.add([accountId]);
        throw wrongCode();
      }
      batch.put(secondFactors, [accountId], { ...found, last_step: step });
    });
  }

  /** Replaces the recovery codes; the new ones are returned only here. */
  async renewRecoveryCodes(accountId: string, source: Source): Promise<readonly string[]> {
    const recovery = newRecoveryCodes();
    await this.#options.actors.account(accountId).ask((batch) => {
      const found = batch.get(secondFactors, [accountId]);
      if (found === undefined || found.on_since === null) throw isOff();
      const hashes = recovery.map((one) => this.#hash(accountId, one));
      batch.put(secondFactors, [accountId], { ...found, recovery: hashes });
      this.#note(batch, accountId, 'recovery_codes_made', source);
    });
    return recovery;
  }

  /** Turns the second factor off, or discards an unconfirmed secret. Throws Refusal `not_found` while it is required. */
  async turnOff(accountId: string, source: Source): Promise<void> {
    if (this.#options.isRequired(accountId)) {
      throw new Refusal({ kind: 'not_found', what: 'this hub requires two-factor sign-in, so it stays on' });
    }
    await turnOffSecondFactor(this.#options, accountId, source);
  }

  /** Returns the period of a code; undefined: a wrong code, or one of a period already used. */
  #stepOf(accountId: string, found: SecondFactorRecord, given: string): number | undefined {
    const token = given.replace(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return undefined;
    const timestamp = this.#options.now();
    const delta = totpOf(this.#secretOf(accountId, found), '').validate({ token, timestamp, window: WINDOW });
    if (delta === null) return undefined;
    const step = Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta;
    return step > found.last_step ? step : undefined;
  }

  #secretOf(accountId: string, { secret }: SecondFactorRecord): Uint8Array {
    return this.#options.sealer.openRandom(accountId, FIELD, secret);
  }

  #hash(accountId: string, code: string): string {
    return this.#options.sealer.keyedHash(
      'recovery-code',
      `${accountId}\n${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`,
    );
  }

  #note(batch: Batch, accountId: string, act: AuditedAct, source: Source): void {
    noteAct(batch, accountId, { atMs: this.#options.now(), act, source });
  }
}

/** Turns the second factor off: the password alone then signs in. Throws Refusal `not_found` when it is already off. */
export async function turnOffSecondFactor(
  { actors, now }: Pick<SecondFactorsOptions, 'actors' | 'now'>,
  accountId: string,
  source: Source,
): Promise<void> {
  await actors.account(accountId).ask((batch) => {
    const found = batch.get(secondFactors, [accountId]);
    if (found === undefined) throw isOff();
    batch.remove(secondFactors, [accountId]);
    if (found.on_since !== null) noteAct(batch, accountId, { atMs: now(), act: 'second_factor_off', source });
  });
}

function totpOf(secret: Uint8Array, label: string): TOTP {
  return new TOTP({
    issuer: 'Cairn',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
    secret: new Secret({ buffer: Uint8Array.from(secret).buffer }),
  });
}

/** In display form: six groups of four. */
function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: limits.recoveryCodes }, () => {
    const letters = [...randomBytes(RECOVERY_CHARS)].map((byte) => ALPHABET[byte & 31]).join('');
    return (letters.match(/.{4}/g) ?? []).join('-');
  });
}

function wrongCode(): Refusal {
  return invalidField('code', 'this code is wrong or was used before; wait for the next one, or use a recovery code');
}

function alreadyOn(): Refusal {
  return new Refusal({ kind: 'not_found', what: 'two-factor sign-in has changed in another window; reload the page' });
}

function isOff(): Refusal {
  return new Refusal({ kind: 'not_found', what: 'two-factor sign-in is off' });
}
