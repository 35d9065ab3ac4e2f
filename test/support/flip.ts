/** Damages a data file as a disk does: one bit of what is stored becomes another, wherever in the file it stands. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Flips the lowest bit of the byte `at` within each place in the file that holds `bytes`. Throws when none does. */
export function flip(dataFolder: string, bytes: Uint8Array | string, at = 0): void {
  const path = join(dataFolder, 'cairn.mdb');
  const file = readFileSync(path);
  const wanted = Buffer.from(bytes as string);
  const descriptor = openSync(path, 'r+');
  let places = 0;
  for (let place = file.indexOf(wanted); place >= 0; place = file.indexOf(wanted, place + 1)) {
    writeSync(descriptor, Buffer.of((file[place + at] ?? 0) ^ 1), 0, 1, place + at);
    places += 1;
  }
  closeSync(descriptor);
  if (places === 0) throw new Error('the data file holds no such bytes');
}
