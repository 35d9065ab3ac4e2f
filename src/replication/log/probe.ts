/**
 * Finds out whether a store creates each name once. Some accept the condition and ignore it, and some let several racing
 * creates win: with such a store two members would both write. No list of stores tells; the store itself is asked.
 */
import { randomBytes } from 'node:crypto';
import { StartError } from '../../common/start-error.ts';
import type { Created } from './log.ts';

const WRITERS = 8;
const ROUNDS = 4;

/** What the probe needs of a store. */
export interface Racetrack {
  create(name: string, bytes: Uint8Array): Promise<Created>;
  get(name: string): Promise<Uint8Array | undefined>;
  remove(name: string): Promise<void>;
}

/** Throws StartError when the store does not create a name exactly once, or does not answer. `shown`: its URL without secrets. */
export async function checkFences(store: Racetrack, shown: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `probe/${randomBytes(12).toString('hex')}`;
    const entries = Array.from({ length: WRITERS }, () => randomBytes(64));
    const race = await Promise.all(entries.map((bytes) => store.create(name, bytes))).catch((error: unknown) => {
      throw new StartError(`The log at ${shown} does not work: ${said(error)}.`, { cause: error });
    });
    const late = await store.create(name, randomBytes(64));
    const winners = entries.filter((_, index) => race[index] === 'written');
    const kept = await store.get(name);
    await store.remove(name);
    const [winner] = winners;
    if (winners.length !== 1 || late !== 'taken') {
      throw new StartError(
        `The store at ${shown} let ${winners.length + (late === 'written' ? 1 : 0)} of ${WRITERS + 1} writers create ` +
          'the same object. Two members would both write and lose data. Use a store that supports "If-None-Match: *" ' +
          '(AWS S3, Cloudflare R2, Ceph RGW and others), or PostgreSQL.',
      );
    }
    if (kept === undefined || winner === undefined || Buffer.compare(kept, winner) !== 0) {
      throw new StartError(`The store at ${shown} acknowledged an object and keeps other bytes. Use another store.`);
    }
  }
}

function said(error: unknown): string {
  const { message, cause } = error as Error;
  const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
  return `${message}${reason}`.replace(/\.$/, '');
}
