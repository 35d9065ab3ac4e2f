/** Names the data file. Separate from the store, so that importing the name does not load LMDB. */

export const DATA_FILE = 'cairn.mdb';
