/**
 * A network for members: each runs in a namespace of its own, with one wire to its clients and one to the log. A wire that
 * is cut loses all packets and tells nobody, as a broken network does.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Whether this machine lets a user make such a network. */
export const canCutNetworks = tryNetwork();

function tryNetwork(): boolean {
  let network: MemberNetwork | undefined;
  try {
    network = new MemberNetwork();
    network.place('probe');
    return true;
  } catch {
    return false;
  } finally {
    network?.close();
  }
}

/** Where a member is in the network. */
export interface NetworkPlace {
  /** Runs a program there. */
  readonly wrapper: readonly string[];
  /** Where its clients reach it. */
  readonly address: string;
  /** Where it reaches what this machine listens on. */
  readonly logHost: string;
  /** Cuts wires, or mends them. */
  cut(isCut: boolean, wires: { readonly clients?: boolean; readonly log?: boolean }): void;
}

export class MemberNetwork {
  /** Names of interfaces have at most 15 characters, so several test runs have a few letters to differ. */
  readonly #tag = randomBytes(3).toString('hex');
  /** The first three numbers of all addresses. */
  readonly #net = `10.${200 + Math.floor(Math.random() * 50)}.${Math.floor(Math.random() * 250)}`;
  readonly #spaces: string[] = [];

  /** Makes a namespace with its two wires. */
  place(name: string): NetworkPlace {
    const index = this.#spaces.length;
    const space = `cairn-${this.#tag}-${name}`;
    ip('netns', 'add', space);
    this.#spaces.push(space);
    ip('-n', space, 'link', 'set', 'lo', 'up');
    const clients = this.#wire(space, `c${this.#tag}${index}`, index * 8 + 1);
    const log = this.#wire(space, `l${this.#tag}${index}`, index * 8 + 5);
    return {
      wrapper: ['ip', 'netns', 'exec', space],
      address: clients.inside,
      logHost: log.outside,
      cut(isCut, wires) {
        // The far end of each wire is cut: the near one keeps its route, and packets vanish.
        const state = isCut ? 'down' : 'up';
        if (wires.clients === true) ip('-n', space, 'link', 'set', clients.insideName, state);
        if (wires.log === true) ip('link', 'set', log.outsideName, state);
      },
    };
  }

  /** Removes all namespaces, and the wires with them. */
  close(): void {
    for (const space of this.#spaces.splice(0)) ip('netns', 'del', space);
  }

  /** `host`: the last number of the address outside; the one inside follows it. */
  #wire(space: string, name: string, host: number) {
    const [outsideName, insideName] = [`${name}o`, `${name}i`];
    const [outside, inside] = [`${this.#net}.${host}`, `${this.#net}.${host + 1}`];
    ip('link', 'add', outsideName, 'type', 'veth', 'peer', 'name', insideName, 'netns', space);
    ip('addr', 'add', `${outside}/30`, 'dev', outsideName);
    ip('-n', space, 'addr', 'add', `${inside}/30`, 'dev', insideName);
    ip('link', 'set', outsideName, 'up');
    ip('-n', space, 'link', 'set', insideName, 'up');
    return { outsideName, insideName, outside, inside };
  }
}
