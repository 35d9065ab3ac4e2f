/** Writes a tar of files (POSIX ustar) as a stream. */
const BLOCK = 512;

export interface TarMember {
  /** At most 100 ASCII characters. */
  readonly name: string;
  readonly size: number;
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Yields a tar of the members, with mode 0644, no owner and the given time in seconds since 1970. */
export async function* writeTar(members: AsyncIterable<TarMember> | Iterable<TarMember>, modified: number) {
  for await (const { name, size, body } of members) {
    yield headOf(name, size, modified);
    for await (const piece of body) yield piece;
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function headOf(name: string, size: number, modified: number): Buffer {
  const head = Buffer.alloc(BLOCK);
  head.write(name, 0, 100, 'latin1');
  head.write('0000644\0', 100, 'latin1');
  head.write('0000000\0'.repeat(2), 108, 'latin1');
  head.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  head.write(`${Math.floor(modified).toString(8).padStart(11, '0')}\0`, 136, 'latin1');
  head.write(' '.repeat(8), 148, 'latin1');
  head.write('0', 156, 'latin1');
  head.write('ustar\u000000', 257, 'latin1');
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return head;
}
