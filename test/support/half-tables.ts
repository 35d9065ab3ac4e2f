/** Two tables, of which one cannot be written: its rows fail when a group has written the others. */
import { recordCodec } from '../../src/store/codec.ts';
import { defineHeads, defineTable } from '../../src/store/table.ts';

interface Row {
  readonly text: string;
}

const codec = recordCodec<Row>(1);

export const halfTables = {
  rows: defineTable<[string], Row>('rows', codec, { hub: 'any' }),
  heads: defineHeads<[string], Row>(
    'heads',
    {
      encode: (): never => {
        throw new Error('a head that cannot be encoded');
      },
      decode: (bytes) => codec.decode(bytes),
    },
    { hub: 'any' },
  ),
};
