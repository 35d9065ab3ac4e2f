/** Keeps what a hub listed for completion for some seconds: a person who presses tab twice asks once. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPrivateFile, writePrivateFile } from '../../client/private-file.ts';
import { limits } from '../../limits/service.ts';
import type { Offer } from './offers.ts';

interface Kept {
  readonly at: number;
  readonly offers: readonly Offer[];
}

/**
 * The offers of a question: the kept ones, or those that `ask` gets; none when it fails or is slow, which is kept as well. There is one
 * file for all questions in `folder`, readable by its owner alone, and what is too old leaves it.
 */
export async function keptOffers(
  folder: string,
  question: readonly unknown[],
  ask: () => Promise<readonly Offer[]>,
): Promise<readonly Offer[]> {
  const file = join(folder, 'completion.json');
  const key = createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, 32);
  const isFresh = ({ at }: Kept) => Math.abs(Date.now() - at) < limits.completionKeptMs;
  const known = Object.entries(readKept(file)).filter(([, kept]) => isFresh(kept));
  const found = known.find(([name]) => name === key);
  if (found !== undefined) return found[1].offers;
  const late = sleep(limits.completionMs, []);
  const offers = await Promise.race([ask().catch(() => []), late]);
  const all = Object.fromEntries([...known, [key, { at: Date.now(), offers }]]);
  writePrivateFile(file, JSON.stringify(all));
  return offers;
}

function readKept(file: string): Readonly<Record<string, Kept>> {
  try {
    return JSON.parse(readPrivateFile(file) ?? '{}') as Record<string, Kept>;
  } catch {
    // Not one that this program wrote, or one that others can read: the next one replaces it.
    rmSync(file, { force: true });
    return {};
  }
}
