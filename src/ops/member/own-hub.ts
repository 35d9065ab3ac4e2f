/** What a data folder may do with a log, by what is in both. */
import { StartError } from '../../common/start-error.ts';
import { refuseNewer } from '../../compose/schema/upgrade.ts';
import type { CommitLog } from '../../replication/log/log.ts';
import type { BeginMark } from '../../replication/members/begin-again.ts';
import type { ReplicaFile } from '../../store/logged/replica.ts';
import { isUnwritten } from '../../store/meta/schema.ts';
import { isMasterKey, WRONG_KEY } from '../../store/sealing/key-check.ts';
import { openSealer } from '../../store/sealing/own-key.ts';

/** Whether a folder has a hub that an empty log is to get. Throws StartError when the log has another one. */
export async function isToSeed(replica: ReplicaFile, log: CommitLog, mark: BeginMark | undefined): Promise<boolean> {
  if (replica.place !== undefined || isUnwritten(replica.reader)) return false;
  if ((await log.ends()) === undefined) return true;
  if (mark !== undefined) return false;
  throw new StartError(
    'CAIRN_DATA has a hub of its own, and CAIRN_LOG names a log that has one already; start with an empty data folder to join, or name a new log. To let the log go on with a restored hub, restore it with `cairn restore --into-log`.',
  );
}

/** Throws StartError when this member could not serve what it has: another master key, or a later schema. */
export function proveServable({ reader }: ReplicaFile, masterKey: string | undefined): void {
  refuseNewer(reader);
  if (!isMasterKey(reader, openSealer(reader, Buffer.from(masterKey ?? '', 'hex')))) throw new StartError(WRONG_KEY);
}
