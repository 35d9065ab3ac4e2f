/** Owns the table of what a data file knows about itself: which key wrote it, which life it is in. */
import { recordCodec } from './codec.ts';
import { type AnyTable, defineTable } from './table.ts';

export const meta = defineTable<[name: string], { readonly value: string }>('meta', recordCodec(1), { hub: 'any' });

export const metaTables: readonly AnyTable[] = [meta];
