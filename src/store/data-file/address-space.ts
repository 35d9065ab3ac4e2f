/** Checks that the memory map fits: LMDB reserves it at once, and ends the process by a signal when it cannot. */
import { readFileSync } from 'node:fs';
import { StartError } from '../../common/start-error.ts';
import { limits } from '../../limits/service.ts';

/**
 * Checks a memory map against the address space limit of this process (`ulimit -v`, RLIMIT_AS).
 * @throws StartError naming the setting
 */
export function checkAddressSpace(mapBytes: number): void {
  const free = freeAddressSpace();
  if (mapBytes + limits.addressSpaceReserveBytes <= free) return;
  const fits = free - limits.addressSpaceReserveBytes;
  const orLess = fits > limits.diskFreeBytesMin ? `, or set CAIRN_MAP_BYTES to at most ${fits}` : '';
  throw new StartError(
    `the memory map of ${mapBytes} bytes (CAIRN_MAP_BYTES) does not fit into the limit of address space (ulimit -v); ` +
      `raise the limit${orLess}.`,
  );
}

/** Bytes this process may still map; infinite when the system sets or reports no limit. */
function freeAddressSpace(): number {
  try {
    const limit = /^Max address space\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    const used = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit) - Number(used ?? 0) * 1024;
  } catch {
    // Only Linux has these files; elsewhere LMDB itself reports the failure.
    return Number.POSITIVE_INFINITY;
  }
}
