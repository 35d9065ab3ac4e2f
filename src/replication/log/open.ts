/** Opens the log that CAIRN_LOG names, and refuses a store that cannot be one. */
import { fileURLToPath } from 'node:url';
import { StartError } from '../../common/start-error.ts';
import { EncryptedLog } from './encrypted.ts';
import { FolderStore } from './folder.ts';
import type { CommitLog } from './log.ts';
import { ObjectLog, type ObjectStore } from './object-log.ts';
import { PostgresLog } from './postgres.ts';
import { checkFences } from './probe.ts';
import { readBucket, S3Store } from './s3.ts';

/** The cell of every hub. */
const CELL = 'cells/1';

/** What an encrypted body begins with. */
const AGE = Buffer.from('age-encryption.org/');

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens a log: `file:///folder`, `s3://bucket/prefix` or `postgres://user@host/database`. Races creates first, so it
 * writes to the store. Throws StartError with a sentence for the operator.
 * @param environment the AWS_* variables, and CAIRN_LOG_RECIPIENT and CAIRN_LOG_IDENTITY
 */
export async function openCommitLog(url: string, environment: Environment = {}): Promise<CommitLog> {
  const log = await openPlain(url, environment);
  const { CAIRN_LOG_RECIPIENT: recipient, CAIRN_LOG_IDENTITY: identity } = environment;
  if (!recipient && !identity) {
    await refuseEncrypted(log);
    return log;
  }
  if (!recipient || !identity) {
    throw new StartError('CAIRN_LOG_RECIPIENT and CAIRN_LOG_IDENTITY belong together. Set both, or neither.');
  }
  return new EncryptedLog(log, { recipient, identity });
}

/** Without keys an encrypted log would look damaged. Throws StartError. */
async function refuseEncrypted(log: CommitLog): Promise<void> {
  const ends = await log.ends();
  if (ends === undefined) return;
  for await (const { bytes } of log.read(ends.last)) {
    if (!Buffer.from(bytes.subarray(0, AGE.length)).equals(AGE)) return;
    await log.close();
    throw new StartError('The log is encrypted; set CAIRN_LOG_RECIPIENT and CAIRN_LOG_IDENTITY.');
  }
}

async function openPlain(url: string, environment: Environment): Promise<CommitLog> {
  if (/^postgres(ql)?:/.test(url)) return await openPostgresLog(url);
  if (!URL.canParse(url)) {
    throw new StartError(
      `CAIRN_LOG is ${url}, which is not a URL such as s3://bucket/prefix or file:///srv/cairn-log.`,
    );
  }
  const parsed = new URL(url);
  if (parsed.protocol === 'file:') {
    const folder = fileURLToPath(parsed);
    const store = new FolderStore(`${folder}/${CELL}`);
    await store.open();
    return await openObjects(store, folder);
  }
  if (parsed.protocol === 's3:') {
    const bucket = readBucket(parsed, environment);
    return await openObjects(new S3Store({ ...bucket, prefix: `${bucket.prefix}${CELL}/` }), url);
  }
  throw new StartError(`CAIRN_LOG is ${url}: it must begin with s3://, postgres:// or file:///.`);
}

async function openObjects(store: ObjectStore, shown: string): Promise<CommitLog> {
  await checkFences(store, shown);
  return new ObjectLog(store);
}

async function openPostgresLog(url: string): Promise<CommitLog> {
  const log = await PostgresLog.open(url);
  try {
    await checkFences(log, log.shown);
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}
