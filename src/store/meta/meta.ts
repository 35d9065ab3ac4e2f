/** Defines the table of a data file's metadata: proof of the master key, epoch, schema version and others. */
import { recordCodec } from '../codec.ts';
import { type AnyTable, defineTable } from '../table.ts';

export const meta = defineTable<[name: string], { readonly value: string }>('meta', recordCodec(1), { hub: 'any' });

export const metaTables: readonly AnyTable[] = [meta];
