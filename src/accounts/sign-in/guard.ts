/**
 * Limits password attempts: per address and per (email, address), with a slow path for an email under attack. Wrong
 * passwords of others never lock an owner out: a browser that has signed in before passes with a separate count
 * (OWASP, "device cookies"), and all others take turns, one every few seconds.
 */
import { FairQueue } from '../../common/fair-queue.ts';
import { Refusal } from '../../common/fault.ts';
import { WrongTries } from '../../http/checks/wrong-tries.ts';
import { addressBlock } from '../../http/request/address-block.ts';
import { limits } from '../../limits/service.ts';

/** One password attempt. */
export interface PasswordTry {
  readonly email: string;
  readonly address: string;
  /** Names a browser that has signed in with this email before, or a session of the account; undefined: neither. */
  readonly known: string | undefined;
}

export interface SignInGuardOptions {
  /** False: attempts are not limited. */
  readonly isOn: boolean;
  /** Counts an attempt by address. Throws Refusal `rate_limited`. */
  readonly countSignIn: (address: string) => void;
  readonly now: () => number;
  /** Calls `run` after `ms` milliseconds; injected so that tests need not wait. */
  readonly later: (run: () => void, ms: number) => void;
}

/** The queue of attempts at one email. */
interface Line {
  readonly waiting: FairQueue<() => void>;
  readonly perBlock: Map<string, number>;
}

export class SignInGuard {
  readonly #options: SignInGuardOptions;
  readonly #wrong: WrongTries;
  readonly #wrongOfEmail: WrongTries;
  readonly #lines = new Map<string, Line>();

  constructor(options: SignInGuardOptions) {
    this.#options = options;
    const window = { windowMs: limits.passwordTriesMs, now: options.now };
    this.#wrong = new WrongTries({ ...window, triesMax: limits.passwordTriesMax });
    this.#wrongOfEmail = new WrongTries({ ...window, triesMax: limits.passwordTriesOfEmailMax });
  }

  /** Resolves when the password may be checked. Rejects with Refusal `rate_limited`. */
  async enter(tried: PasswordTry): Promise<void> {
    if (!this.#options.isOn) return;
    const { email, address, known } = tried;
    // A known browser with too many wrong passwords is treated as unknown.
    if (known !== undefined && !this.#wrong.isOver(nameOf(known))) return;
    const block = addressBlock(address);
    this.#options.countSignIn(address);
    this.#wrong.check([pairOf(email, block)]);
    if (this.#lines.has(email) || this.#wrongOfEmail.isOver(email)) await this.#turn(email, block);
  }

  /** Counts a wrong password. */
  failed({ email, address, known }: PasswordTry): void {
    if (known !== undefined) this.#wrong.add([nameOf(known)]);
    this.#wrong.add([pairOf(email, addressBlock(address))]);
    this.#wrongOfEmail.add([email]);
  }

  /** Resolves at the next turn of this email. Turns rotate over addresses, so an address delays another by one turn. */
  #turn(email: string, block: string): Promise<void> | undefined {
    const line = this.#lines.get(email);
    if (line === undefined) {
      if (this.#lines.size >= limits.slowSignInEmailsMax) throw busy();
      this.#lines.set(email, { waiting: new FairQueue(), perBlock: new Map() });
      this.#options.later(() => this.#next(email), limits.slowSignInMs);
      return undefined;
    }
    const ofBlock = line.perBlock.get(block) ?? 0;
    if (line.waiting.size >= limits.slowSignInsWaitingMax || ofBlock >= limits.slowSignInsOfAddressMax) throw busy();
    line.perBlock.set(block, ofBlock + 1);
    return new Promise((resolve) => {
      line.waiting.push(block, () => {
        line.perBlock.set(block, (line.perBlock.get(block) ?? 1) - 1);
        resolve();
      });
    });
  }

  #next(email: string): void {
    const resume = this.#lines.get(email)?.waiting.shift();
    if (resume === undefined) {
      this.#lines.delete(email);
      return;
    }
    this.#options.later(() => this.#next(email), limits.slowSignInMs);
    resume();
  }
}

function busy(): Refusal {
  const retryAfterSeconds = Math.ceil((limits.slowSignInMs * limits.slowSignInsWaitingMax) / 1000);
  return new Refusal({ kind: 'rate_limited', limit: limits.slowSignInsWaitingMax, retryAfterSeconds });
}

const nameOf = (known: string) => `known ${known}`;
const pairOf = (email: string, block: string) => `pair ${block} ${email}`;
