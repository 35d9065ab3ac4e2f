/** Names the data file. Kept apart from the store, so that reading the name loads no LMDB. */

export const DATA_FILE = 'cairn.mdb';
