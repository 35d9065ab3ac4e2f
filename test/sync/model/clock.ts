/** The clocks of devices: hybrid, each with an error of its own that may jump. And how two clocks compare. */
import { clockAt } from '../../support/sync.ts';

const AHEAD_MS_MAX = 300_000;
const CANONICAL = /^(.{24})-([0-9A-F]{4})-(.+)$/;

interface Parsed {
  readonly ms: number;
  readonly counter: number;
  readonly node: string;
}

function parse(hlc: string): Parsed {
  const [, time = '', counter = '', node = ''] = CANONICAL.exec(hlc) ?? [];
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new Error(`no canonical clock: ${hlc}`);
  return { ms, counter: Number.parseInt(counter, 16), node };
}

export function isNewer(hlc: string, than: string): boolean {
  const [a, b] = [parse(hlc), parse(than)];
  if (a.ms !== b.ms) return a.ms > b.ms;
  return a.counter === b.counter ? a.node > b.node : a.counter > b.counter;
}

export function isTooFarAhead(hlc: string, nowMs: number): boolean {
  return parse(hlc).ms - nowMs > AHEAD_MS_MAX;
}

export class DeviceClock {
  readonly #node: string;
  /** How far it is off. */
  #skewMs: number;
  #ms = 0;
  #counter = 0;

  constructor(node: string, skewMs: number) {
    this.#node = node;
    this.#skewMs = skewMs;
  }

  /** From now on it is off by so much. */
  jump(skewMs: number): void {
    this.#skewMs = skewMs;
  }

  tick(): string {
    const ms = Date.now() + this.#skewMs;
    this.#counter = ms > this.#ms ? 0 : this.#counter + 1;
    this.#ms = Math.max(this.#ms, ms);
    return clockAt(this.#ms, this.#counter, this.#node);
  }

  /** Goes on from what the hub showed. */
  receive(hlc: string): void {
    const { ms, counter } = parse(hlc);
    if (ms > this.#ms) [this.#ms, this.#counter] = [ms, counter];
    else if (ms === this.#ms) this.#counter = Math.max(this.#counter, counter);
  }
}
