/**
 * Limits password attempts: per address and per (email, address) in each network of the address, with a slow path for
 * an email under attack. Wrong passwords of others never lock an owner out: a browser that has signed in before passes
 * with a separate count (OWASP, "device cookies"), and all others take turns, one every few seconds. Turns go round the
 * widest networks; a network has a bounded part of the places, and makes room for one that holds fewer.
 */
import { FairQueue } from '../../common/fair/fair-queue.ts';
import { Refusal } from '../../common/fault.ts';
import { type Network, networksOf } from '../../common/networks.ts';
import { guessersAt, WrongTries } from '../../http/checks/wrong-tries.ts';
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

interface Waiting {
  readonly networks: readonly Network[];
  readonly pass: () => void;
  readonly refuse: () => void;
}

/** The queue of attempts at one email. */
interface Line {
  readonly turns: FairQueue<Waiting>;
  /** Those in the queue that were not refused since, oldest first. */
  readonly waiting: Set<Waiting>;
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
    this.#options.countSignIn(address);
    this.#wrong.check(pairsOf(tried));
    if (this.#lines.has(email) || this.#wrongOfEmail.isOver(email)) await this.#turn(email, networksOf(address));
  }

  /** Counts a wrong password. */
  failed(tried: PasswordTry): void {
    const { email, known } = tried;
    if (known !== undefined) this.#wrong.add([nameOf(known)]);
    this.#wrong.add(pairsOf(tried));
    this.#wrongOfEmail.add([email]);
  }

  /** Resolves at the next turn of this email. */
  #turn(email: string, networks: readonly Network[]): Promise<void> | undefined {
    const line = this.#lines.get(email);
    if (line === undefined) {
      if (this.#lines.size >= limits.slowSignInEmailsMax) throw busy();
      this.#lines.set(email, { turns: new FairQueue(), waiting: new Set() });
      this.#options.later(() => this.#next(email), limits.slowSignInMs);
      return undefined;
    }
    const isGreedy = ({ name, share }: Network) => held(line, name) >= limits.slowSignInsOfAddressMax * share;
    if (networks.some(isGreedy)) throw busy();
    if (line.waiting.size >= limits.slowSignInsWaitingMax) {
      const displaced = displacedBy(line, networks);
      if (displaced === undefined) throw busy();
      line.waiting.delete(displaced);
      displaced.refuse();
    }
    return new Promise((resolve, reject) => {
      const waiting = { networks, pass: resolve, refuse: () => reject(busy()) };
      line.waiting.add(waiting);
      line.turns.push(widest(networks), waiting);
    });
  }

  #next(email: string): void {
    const line = this.#lines.get(email);
    let next = line?.turns.shift();
    while (next !== undefined && line?.waiting.has(next) === false) next = line.turns.shift();
    if (line === undefined || next === undefined) {
      this.#lines.delete(email);
      return;
    }
    this.#options.later(() => this.#next(email), limits.slowSignInMs);
    line.waiting.delete(next);
    next.pass();
  }
}

/** The newest waiting attempt of the network with the most, if that is fairer; undefined: no network has more. */
function displacedBy(line: Line, networks: readonly Network[]): Waiting | undefined {
  let displaced: Waiting | undefined;
  let most = held(line, widest(networks)) + 1;
  for (const waiting of [...line.waiting].toReversed()) {
    const count = held(line, widest(waiting.networks));
    if (count <= most) continue;
    most = count;
    displaced = waiting;
  }
  return displaced;
}

/** Waiting attempts of a network. */
function held({ waiting }: Line, name: string): number {
  return [...waiting].filter(({ networks }) => networks.some((network) => network.name === name)).length;
}

function widest(networks: readonly Network[]): string {
  return networks.at(-1)?.name ?? '';
}

function busy(): Refusal {
  const retryAfterSeconds = Math.ceil((limits.slowSignInMs * limits.slowSignInsWaitingMax) / 1000);
  return new Refusal({ kind: 'rate_limited', limit: limits.slowSignInsWaitingMax, retryAfterSeconds });
}

const nameOf = (known: string) => `known ${known}`;
const pairsOf = ({ email, address }: PasswordTry) => guessersAt(address, `pair ${email}`);
