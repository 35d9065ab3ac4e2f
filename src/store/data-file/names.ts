/** Names the files of a data folder. Separate from the store, so that importing a name does not load LMDB. */

export const DATA_FILE = 'cairn.mdb';
export const KEY_FILE = 'master.key';
