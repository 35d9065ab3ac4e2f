/**
 * cairn export and cairn import: writes one account to a folder, and creates an account from such a folder on any hub.
 */

import { existsSync, renameSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type ArchiveManifest, SECTIONS } from '../../archive/format.ts';
import { IMPORT_SOURCES } from '../../client/importing/imported.ts';
import { formatBytes, openProgress } from '../../client/progress.ts';
import { besideItsPlace } from '../../client/staging.ts';
import { Refusal } from '../../common/fault.ts';
import { StartError } from '../../common/start-error.ts';
import type { MadeFiles } from '../../compose/exports/export-thread.ts';
import { makeFolders } from '../../store/data-file/make-folders.ts';
import { syncPath } from '../../store/data-file/sync-path.ts';
import type { PlainSummary } from '../../transfer/plain/write.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { printError, printResult, table, tellUser } from '../output.ts';
import { toldToEnd } from '../process.ts';
import { UsageError } from '../usage-error.ts';
import { givenQuotas, QUOTA_OPTIONS, QUOTA_WORDS } from './account-standing.ts';
import { control } from './control.ts';
import { openForReading } from './read-only.ts';
import { operatorConfig } from './settings.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'export one account to an archive that another hub can import, or as plain files, while the service runs',
  operands: ['DIR'],
  options: [needs('email', 'EMAIL')],
  flags: ['plain'],
  explains: { plain: 'write Markdown, CSV, a calendar and your files as they are, to read without Cairn; no import' },
  examples: [
    'cairn export --email you@example.org /mnt/archives/you',
    'cairn export --email you@example.org --plain ~/my-data',
  ],
  run: runExport,
};

export const importCommand: Command = {
  name: 'import',
  summary: 'create an account from an archive (atomic), or take over tasks and notes from another program',
  operands: ['PATH'],
  options: [
    takes('email', 'EMAIL'),
    ...QUOTA_OPTIONS,
    takes('from', 'PROGRAM'),
    takes('vault', 'NAME'),
    takes('server', 'URL'),
  ],
  completes: { from: IMPORT_SOURCES, vault: 'vault' },
  flags: ['dry-run'],
  explains: {
    email: 'email of the new account; default: the one in the archive',
    ...QUOTA_WORDS,
    from: 'todoist, notion, obsidian or markdown: import PATH into your account on a hub, from any machine',
    vault: 'with --from: vault for the files; default: the name of PATH',
    server: 'with --from: address of the hub; default: CAIRN_SERVER, else the last sign-in',
    'dry-run': 'with --from: only report what would be imported',
  },
  examples: [
    'cairn import /mnt/archives/you',
    'cairn import /mnt/archives/you --email other@example.org --json',
    'cairn import /mnt/archives/you --files 20GiB --history 20GiB',
    'cairn import Inbox.csv --from todoist',
    'cairn import Export.zip --from notion --vault notion',
    'cairn import ~/Obsidian --from obsidian --vault notes',
  ],
  run: async (options) => {
    refuseUnused(options);
    if (options.optional('from') === undefined) return await runImport(options);
    return await (await import('../user/import.ts')).runImportFrom(options);
  },
};

/** An option that would be ignored is one that somebody relies on. Throws UsageError. */
function refuseUnused(options: Options): void {
  const isGiven = (name: string) => options.optional(name) !== undefined;
  if (isGiven('from')) {
    const unused = ['email', ...QUOTA_OPTIONS.map(({ name }) => name)].find(isGiven);
    if (unused !== undefined) throw new UsageError(`--${unused} is for the account of an archive: leave out --from`);
    return;
  }
  const unused = options.flag('dry-run') ? 'dry-run' : ['vault', 'server'].find(isGiven);
  if (unused !== undefined) throw new UsageError(`--${unused} needs --from: an archive makes an account of this hub`);
}

async function runExport(options: Options): Promise<number> {
  const folder = options.operand() ?? '';
  const made = await exported(options, folder);
  return made.kind === 'archive'
    ? printArchive(options, folder, made.manifest)
    : printPlain(options, folder, made.summary);
}

function printArchive(options: Options, folder: string, manifest: ArchiveManifest): number {
  for (const one of manifest.missing ?? []) printError(`missing: ${one}`);
  const { files, blobs, account, made_at } = manifest;
  const rows = [
    ['archive', folder],
    ['account', account.email],
    ['made at', made_at],
    ...SECTIONS.map((section) => [section, `${files[section]?.records ?? 0} records`] as const),
    ['contents', `${blobs.count}, ${formatBytes(blobs.bytes)}`],
  ] as const;
  return printResult(
    options,
    manifest,
    () => `${table(rows)}

It is not encrypted: keep it safe. Not in it: password, second factor, keys, tokens, sessions, linked identities, the mirror credential,
webhooks, quotas and rights.`,
  );
}

function printPlain(options: Options, folder: string, summary: PlainSummary): number {
  for (const one of summary.left_out) printError(`left out: ${one}`);
  const rows = [
    ['folder', folder],
    ['account', summary.account],
    ['made at', summary.made_at],
    ['files', `${summary.files}, ${formatBytes(summary.bytes)}`],
  ] as const;
  return printResult(
    options,
    summary,
    () => `${table(rows)}

README.md in it says what is where. It is not encrypted: keep it safe. \`cairn import\` reads only the archive, made without --plain.`,
  );
}

/** Makes an export of one moment, shows how far it is, and records it. Throws StartError, and then leaves nothing. */
async function exported(options: Options, folder: string): Promise<MadeFiles> {
  const email = options.required('email');
  const { dataFolder, mapBytes } = operatorConfig();
  // Refuses what cannot be read. The thread opens the data file itself.
  await (await openForReading({ dataFolder, mapBytes })).close();
  const { exportInThread } = await import('../../compose/exports/in-thread.ts');
  const { toldToOperator } = await import('../../transfer/export.ts');
  const place = resolve(folder);
  requireNew(place, folder);
  const bar = openProgress('exporting');
  let made: MadeFiles;
  try {
    makeFolders(dirname(place));
    made = await besideItsPlace(place, tellUser, async (staging) => {
      const job = { dataFolder, mapBytes, email, folder: staging, named: folder, besideService: false };
      const files = await exportInThread({ ...job, plain: options.flag('plain') }, (bytes) =>
        bar.update(bytes, undefined),
      );
      requireNew(place, folder);
      renameSync(staging, place);
      syncPath(dirname(place));
      return files;
    });
  } catch (error) {
    throw toldToOperator(error, folder);
  } finally {
    bar.close();
  }
  await noteExport(email);
  return made;
}

function requireNew(place: string, named: string): void {
  if (existsSync(place))
    throw new StartError(`${named} exists already, and an export overwrites nothing; name a new folder.`);
}

/**
 * Records the export. The archive is already complete, so a data folder that is not writable does not invalidate it.
 */
async function noteExport(email: string): Promise<void> {
  try {
    await control({ command: 'audit.exported', email });
  } catch (error) {
    if (!(error instanceof StartError || error instanceof Refusal)) throw error;
    printError(`cairn: the archive is complete; the export is not in the audit log, because ${error.message}`);
  }
}

async function runImport(options: Options): Promise<number> {
  const { openImporterAlone } = await import('../../transfer/open.ts');
  const folder = resolve(options.operand() ?? '');
  const email = options.optional('email');
  const bar = openProgress('importing');
  const made = await control(
    { command: 'account.import', folder, ...(email === undefined ? {} : { email }), quotas: givenQuotas(options) },
    { onProgress: (done, total) => bar.update(done, total), signal: toldToEnd(), open: openImporterAlone },
  ).finally(() => bar.close());
  const { mirror_token: token, mirror_secret: secret } = made;
  const rows = [
    ['account', made.account_id],
    ['email', made.email],
    ['records', String(made.records)],
    ['bytes', String(made.bytes)],
    ['account key', made.account_key],
    ['MCP key', made.mcp_key],
    ...(token === null ? [] : [['mirror token', token] as const]),
    ...(secret === null ? [] : [['mirror secret', secret] as const]),
  ] as const;
  return printResult(
    options,
    made,
    () => `${table(rows)}

Copy the keys now: only their hashes are stored, so they are not shown again.
Archives contain no password: \`cairn account password --email ${made.email}\` sets one.`,
  );
}
