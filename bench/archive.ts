/** How fast are the export and import of one account, compared with a backup and restore of the same data? */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ARCHIVE_MANIFEST_FILE,
  type ArchiveSection,
  fileOf,
  newManifest,
  SECTIONS,
  type SectionSummary,
} from '../src/archive/format.ts';
import { runCairn } from '../test/support/hub.ts';
import { gitShaOf, sha256Of } from '../test/support/sync.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { type Bench, MiB, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const EMAIL = 'bench@example.org';
const BLOBS = 8;
const BLOB_BYTES = 25 * MiB;
const FILES = 20_000;
const FILE_BYTES = 1024;
const CONTENT_MIB = (BLOBS * BLOB_BYTES + FILES * FILE_BYTES) / MiB;
const STARTED_MS = Date.parse('2026-11-01T00:00:00.000Z');

export const archive: Bench = async ({ quick }) => {
  const work = temporaryFolder();
  try {
    const made = join(work, 'made');
    makeArchive(made);
    const hub = join(work, 'hub');
    await rateOf(hub, 'import', made);
    const rates = {
      exported: [] as number[],
      backed: [] as number[],
      imported: [] as number[],
      restored: [] as number[],
    };
    for (let round = 0; round < (quick ? 2 : 5); round += 1) {
      const at = (name: string) => join(work, `${name}-${round}`);
      const there = [
        async () => rates.exported.push(await rateOf(hub, 'export', at('archive'), '--email', EMAIL)),
        async () => rates.backed.push(await rateOf(hub, 'backup', at('backup'), '--with-key')),
      ];
      const back = [
        async () => rates.imported.push(await rateOf(at('imported'), 'import', at('archive'))),
        async () => rates.restored.push(await rateOf(at('restored'), 'restore', at('backup'))),
      ];
      for (const pair of [there, back]) for (const side of round % 2 === 0 ? pair : pair.toReversed()) await side();
      for (const name of ['archive', 'backup', 'imported', 'restored'])
        rmSync(at(name), { recursive: true, force: true });
      note(
        `round ${round + 1}: ${Object.values(rates)
          .map((all) => all.at(-1)?.toFixed(0))
          .join(', ')} MiB/s`,
      );
    }
    return [
      row('export', rates.exported, 'backup', rates.backed),
      row('import', rates.imported, 'restore', rates.restored),
    ];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

function row(what: string, cairn: readonly number[], yardstickName: string, yardstick: readonly number[]): Row {
  const question = `${what} of an account of ${BLOBS} blobs of 25 MiB and ${FILES} files of 1 KiB`;
  return pairedRow({
    question,
    yardstickName: `cairn ${yardstickName}`,
    cairn,
    yardstick,
    unit: 'MiB/s',
    target: undefined,
  });
}

/** Contents in MiB per second, including the start of the command. */
async function rateOf(dataFolder: string, ...args: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  const { code, stderr } = await runCairn([...args], { CAIRN_DATA: dataFolder });
  if (code !== 0) throw new Error(`cairn ${args.join(' ')} ended with ${code}: ${stderr}`);
  return (CONTENT_MIB * 1000) / (performance.now() - startedMs);
}

/** Writes an archive whose contents all differ. */
function makeArchive(folder: string): void {
  mkdirSync(join(folder, 'blobs'), { recursive: true });
  const at = (count: number) => new Date(STARTED_MS + count).toISOString();
  const mirror: object[] = [{ type: 'mirror', has_credential: true }];
  for (let count = 0; count < BLOBS; count += 1) {
    const bytes = randomBytes(BLOB_BYTES);
    const sha256 = sha256Of(bytes);
    writeFileSync(join(folder, 'blobs', sha256), bytes);
    const commit_sha = randomBytes(20).toString('hex');
    const blob = { type: 'blob', commit_sha, sha256, byte_size: bytes.length, uploaded_at: at(count) };
    mirror.push({ ...blob, uploaded_by: null, verified: true });
  }
  const clock = { clock_at: at(0), clock_counter: 0 };
  const vault = { vault_id: `v_${randomBytes(8).toString('hex')}`, name: 'primary', is_primary: true };
  const vaults: object[] = [{ type: 'vault', ...vault, created_at: at(0), protected_paths: null, ...clock }];
  for (let seq = 1; seq <= FILES; seq += 1) vaults.push(fileLine(seq, at(seq)));
  const records: Record<ArchiveSection, object[]> = {
    tasks: [],
    papers: [],
    docs: [],
    handoffs: [],
    mirror,
    vaults,
    activity: [],
  };
  const files = Object.fromEntries(
    SECTIONS.map((section) => [section, writeSection(folder, section, records[section])]),
  );
  const manifest = newManifest({
    cairn_version: 'bench',
    made_at: at(0),
    account: { email: EMAIL, name: null, created_at: at(0) },
    files: files as Record<ArchiveSection, SectionSummary>,
    blobs: { count: BLOBS, bytes: BLOBS * BLOB_BYTES },
  });
  writeFileSync(join(folder, ARCHIVE_MANIFEST_FILE), JSON.stringify(manifest));
}

function fileLine(seq: number, stored_at: string): object {
  const content = `file ${seq}\n`.padEnd(FILE_BYTES, 'x');
  const hashes = { sha256: sha256Of(content), git_sha: gitShaOf(content), hlc: `${stored_at}-0000-89e4f1c2a0b3d756` };
  const file = {
    type: 'file',
    seq,
    path: `folder ${seq % 200}/${seq}.md`,
    ...hashes,
    size_bytes: FILE_BYTES,
    stored_at,
  };
  return { ...file, device_id: 'laptop', remote_mtime: null, status: 'created', content };
}

function writeSection(folder: string, section: ArchiveSection, records: readonly object[]): SectionSummary {
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  writeFileSync(join(folder, fileOf(section)), text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { records: records.length, bytes: Buffer.byteLength(text), sha256 };
}

await runWhenStarted(import.meta.url, archive);
