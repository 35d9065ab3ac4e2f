/** Names the files of a data folder. Separate from the store, so that importing a name does not load LMDB. */

export const DATA_FILE = 'cairn.mdb';
export const KEY_FILE = 'master.key';
/** Where a restore makes a data file, in the data folder, before it gets its name. */
export const RESTORE_FOLDER = 'restoring';
