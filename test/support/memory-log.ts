/** A log in memory for a logged store: it keeps what it was given, and can be slow. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogAck, RecordLog } from '../../src/store/logged/committer.ts';
import type { LoggedRow, RowPart } from '../../src/store/rows.ts';

export class MemoryLog implements RecordLog {
  readonly ack: LogAck;
  /** The number of the last commit in each record that was answered before. */
  readonly through: (number | undefined)[] = [];
  readonly records: (readonly LoggedRow[])[] = [];
  readonly parts = new Map<string, Uint8Array>();
  readonly losses: unknown[] = [];
  /** Waited for before a record is kept. */
  before: () => Promise<unknown> = () => nextTurn();

  constructor(ack: LogAck = 'log') {
    this.ack = ack;
  }

  putPart(bytes: Uint8Array): Promise<RowPart> {
    const name = `part-${this.parts.size + 1}`;
    this.parts.set(name, Buffer.from(bytes));
    return Promise.resolve({ name, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length });
  }

  async append(rows: readonly LoggedRow[], through?: number) {
    await this.before();
    this.through.push(through);
    // Copies: a record is what was appended, whatever becomes of the buffers.
    this.records.push(
      rows.map(({ table, key, value, part }) => ({
        table,
        key: Buffer.from(key),
        value: value && Buffer.from(value),
        part,
      })),
    );
    const position = this.records.length;
    const hash = createHash('sha256').update(String(position)).digest('hex');
    return { cell: 1, incarnation: 'memory', position, hash };
  }

  lost(error: unknown): void {
    this.losses.push(error);
  }
}
