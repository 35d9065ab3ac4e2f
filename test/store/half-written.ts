/** Program: writes a row, and then a group that fails after its first row. The argument is the folder of the data file. */
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { halfTables } from '../support/half-tables.ts';

const { rows, heads } = halfTables;
const store = new Store({ folder: process.argv[2] as string, tables: [rows, heads] });
await store.write(HUB, (batch) => batch.put(rows, ['kept'], { text: 'one' }));
await store.write(HUB, (batch) => {
  batch.put(rows, ['half'], { text: 'two' });
  // Encoded when the group is over.
  batch.put(heads, ['broken'], { text: 'three' });
});
