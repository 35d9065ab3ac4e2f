/** Keeps the memory of this process, which contains keys, out of core dumps. */
import { writeFileSync } from 'node:fs';

/** Kinds of memory in a core dump, as a bit mask (core(5)): none. */
const NO_MEMORY = '0';

/** A core dump of this process then contains registers only, wherever the machine writes it. Has an effect on Linux alone. */
export function keepMemoryOutOfCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', NO_MEMORY);
  } catch {
    // Another system, or a /proc that cannot be written: limits of core dumps apply (LimitCORE=0 in the unit).
  }
}
