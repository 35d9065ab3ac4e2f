/**
 * Copies the rows of one data file into another until both are equal, table by table in key order. An empty target
 * becomes a copy without free space; an older copy receives the changes since. When nothing changes, both files have
 * equal rows.
 */
import type { Database } from 'lmdb';
import { limits } from '../../limits/service.ts';
import type { Environment } from '../environment.ts';

type Rows = Database<Buffer, Buffer>;

interface Change {
  readonly key: Buffer;
  /** Undefined: remove the row. */
  readonly value: Buffer | undefined;
}

interface Piece {
  readonly changes: readonly Change[];
  /** The last key compared; undefined at the end of the table. */
  readonly reached: Buffer | undefined;
  readonly bytes: number;
}

/**
 * Returns the number of rows put or removed. The source may be written during the call; the next call copies rows written
 * after their key was passed.
 * @param onBytes called after each piece with the bytes read from the source
 */
export async function bringInStep(
  from: Environment,
  to: Environment,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<number> {
  let changed = 0;
  for (const name of tablesOf(from)) {
    const [source, target] = [rowsOf(from, name), rowsOf(to, name)];
    let after: Buffer | undefined;
    do {
      const piece = differences(source, target, after);
      if (piece.changes.length > 0) await apply(to, target, piece.changes);
      changed += piece.changes.length;
      onBytes(piece.bytes);
      after = piece.reached;
      // Yields, so that the caller can report its progress.
      await new Promise((resolve) => setImmediate(resolve));
    } while (after !== undefined);
  }
  return changed;
}

/** The names of all tables of a file, including those unknown to this version. */
function tablesOf(environment: Environment): string[] {
  return [...environment.getKeys()].map((key) => String(key));
}

const rowsOf = (environment: Environment, name: string): Rows =>
  environment.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });

/** The differences after a key, limited by bytes and rows. */
function differences(source: Rows, target: Rows, after: Buffer | undefined): Piece {
  const range = after === undefined ? {} : { start: after, exclusiveStart: true };
  const [ours, theirs] = [source.getRange(range)[Symbol.iterator](), target.getRange(range)[Symbol.iterator]()];
  const changes: Change[] = [];
  let bytes = 0;
  try {
    let [mine, other] = [ours.next(), theirs.next()];
    while (mine.done !== true || other.done !== true) {
      const order = mine.done === true ? 1 : other.done === true ? -1 : mine.value.key.compare(other.value.key);
      const key = Buffer.from(order <= 0 ? mine.value.key : other.value.key);
      if (order <= 0) {
        bytes += key.length + mine.value.value.length;
        if (order < 0 || !mine.value.value.equals(other.value.value)) changes.push({ key, value: mine.value.value });
      } else {
        changes.push({ key, value: undefined });
      }
      if (bytes >= limits.compactPieceBytes || changes.length >= limits.compactPieceRows)
        return { changes, reached: key, bytes };
      if (order <= 0) mine = ours.next();
      if (order >= 0) other = theirs.next();
    }
    return { changes, reached: undefined, bytes };
  } finally {
    ours.return?.();
    theirs.return?.();
  }
}

async function apply(to: Environment, target: Rows, changes: readonly Change[]): Promise<void> {
  await to.transaction(() => {
    for (const { key, value } of changes) {
      if (value === undefined) target.removeSync(key);
      else target.putSync(key, value);
    }
  });
}
