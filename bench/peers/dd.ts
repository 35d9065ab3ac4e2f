/** Writes a copy of a file to the disk with dd: the minimum cost of a durable write of these bytes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './child.ts';

/** Writes `count` copies, `atOnce` at a time; resolves with the milliseconds. The copies are removed afterwards. */
export async function ddCopies(source: string, folder: string, count: number, atOnce: number): Promise<number> {
  const targets = Array.from({ length: count }, (_, index) => join(folder, `dd-${index}`));
  const waiting = [...targets];
  const startMs = performance.now();
  const lane = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      await runProgram('dd', [`if=${source}`, `of=${target}`, 'bs=1M', 'conv=fsync', 'status=none']);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  const ms = performance.now() - startMs;
  for (const target of targets) rmSync(target, { force: true });
  return ms;
}
