/**
 * Replaces the mirror credential without losing an archive: downloads all archives, rotates, sends the same bytes again.
 * A journal beside the credentials records each step, so that a run after a crash continues: until every archive was
 * sent again, its bytes are on this disk.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { countWithNoun } from '../../text/count.ts';
import { ClientError } from '../client-error.ts';
import { flushPath, readPrivateFile, writePrivateFile } from '../private-file.ts';
import { formatBytes } from '../progress.ts';
import { backupExit } from './exit-codes.ts';
import type { MirrorBlob, MirrorHub } from './hub.ts';

const savedSchema = z.object({
  commit_sha: z.string(),
  sha256: z.string(),
  byte_size: z.number(),
  uploaded_by: z.string().nullable(),
  repository_id: z.string().nullable(),
  repository_label: z.string().nullable(),
  base_sha256: z.string().nullable(),
  archive_kind: z.enum(['repository', 'tree']).nullable(),
});
const journalSchema = z.object({
  version: z.literal(1),
  /** `saving`: the old credential is in force. `rotating`: all is on this disk. `sending`: the new one is stored. */
  phase: z.enum(['saving', 'rotating', 'sending']),
  /** Oldest first, so that sending them again keeps their order. */
  archives: z.array(savedSchema).readonly(),
});

type Journal = z.infer<typeof journalSchema>;
type Saved = z.infer<typeof savedSchema>;

export interface RotationSteps {
  /** Path of `mirror.json`; the journal and the archives are stored beside it. */
  readonly mirrorFile: string;
  /** The hub with the token of the account, for reading. */
  readonly hub: MirrorHub;
  /** Issues a new credential and stores it. Returns the hub to upload to. */
  rotate(): Promise<MirrorHub>;
  /** The hub with the stored credential. */
  stored(): MirrorHub;
  readonly tell: (sentence: string) => void;
  readonly progress: (label: string, done: number, total: number) => void;
}

export interface RotationResult {
  readonly resent: number;
  /** Archives that were unreadable before: they belong to credentials that were replaced. They stay as they were. */
  readonly unreadable: number;
  /** Archives that are not readable any more, because they are damaged. They hold up none of the others. */
  readonly damaged: readonly DamagedArchive[];
}

export interface DamagedArchive {
  readonly commit_sha: string;
  readonly sha256: string;
  readonly repository_label: string | null;
  /** The copy on this disk, which was changed; null: its bytes are damaged on the hub. */
  readonly copy: string | null;
}

/** Rotates, or continues a rotation. Throws ClientError; calling it again continues. */
export async function rotateSafely(steps: RotationSteps): Promise<RotationResult> {
  const { mirrorFile, hub, tell } = steps;
  const place = placeOf(mirrorFile, hub.server);
  const begun = readJournal(place.journal);
  if (begun !== undefined) tell('continuing the replacement of the credential begun earlier');
  const isSaving = begun === undefined || begun.phase === 'saving';
  const { archives, unreadable, damaged } = isSaving
    ? await save(steps, place)
    : { archives: begun.archives, unreadable: 0, damaged: [] };
  let sender: MirrorHub;
  if (begun?.phase === 'sending') sender = steps.stored();
  else {
    if (!isSaving) await saveChanged(hub, place.folder, archives);
    writeJournal(place.journal, { version: 1, phase: 'rotating', archives });
    sender = await steps.rotate();
    writeJournal(place.journal, { version: 1, phase: 'sending', archives });
  }
  const changed = await sendAgain(steps, sender, place.folder, archives);
  if (changed.length === 0) {
    rmSync(place.folder, { recursive: true, force: true });
    rmSync(place.journal, { force: true });
  }
  return { resent: archives.length - changed.length, unreadable, damaged: [...damaged, ...changed] };
}

/** True while a rotation of this machine is unfinished. */
export function isRotating(mirrorFile: string, server: string): boolean {
  return existsSync(placeOf(mirrorFile, server).journal);
}

interface Place {
  readonly journal: string;
  readonly folder: string;
}

function placeOf(mirrorFile: string, server: string): Place {
  const name = createHash('sha256').update(server).digest('hex').slice(0, 16);
  const base = mirrorFile.replace(/\.json$/, '');
  return { journal: `${base}-rotation-${name}.json`, folder: `${base}-rotation-${name}` };
}

interface SavedArchives {
  readonly archives: readonly Saved[];
  readonly unreadable: number;
  /** On the hub. */
  readonly damaged: readonly DamagedArchive[];
}

/** Downloads every archive that the hub returns, except those already saved by an earlier run. */
async function save(steps: RotationSteps, { journal, folder }: Place): Promise<SavedArchives> {
  const { hub, tell } = steps;
  const blobs = (await hub.list()).toReversed();
  const readable: MirrorBlob[] = [];
  const damaged = new Set<MirrorBlob>();
  for (const blob of blobs) {
    if (await hub.has(blob)) readable.push(blob);
    else if (await hub.isDamaged(blob)) damaged.add(blob);
  }
  const unreadable = blobs.length - readable.length - damaged.size;
  const bytes = readable.reduce((sum, blob) => sum + blob.byte_size, 0);
  tell(
    `without a copy, the rotation would make ${countWithNoun(readable.length, 'archive')} unreadable; ` +
      `downloading them (${formatBytes(bytes)}), to upload them again`,
  );
  if (unreadable > 0) {
    tell(`${countWithNoun(unreadable, 'archive')} already cannot be downloaded, and will stay unreadable`);
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const missing = readable.filter((blob) => !isSaved(folder, blob));
  requireRoom(
    folder,
    missing.reduce((sum, blob) => sum + blob.byte_size, 0),
  );
  writeJournal(journal, { version: 1, phase: 'saving', archives: [] });
  for (const [index, blob] of missing.entries()) {
    steps.progress('downloading', index, missing.length);
    if (!(await isDownloaded(hub, blob, join(folder, blob.sha256)))) damaged.add(blob);
  }
  const saved = readable.filter((blob) => !damaged.has(blob));
  // From the rotation on, these are the only copies: a power failure must not take them. Also what a run before saved.
  for (const { sha256 } of saved) flushPath(join(folder, sha256));
  flushPath(folder);
  const archives = saved.map(
    (blob): Saved => ({
      commit_sha: blob.commit_sha,
      sha256: blob.sha256,
      byte_size: blob.byte_size,
      uploaded_by: blob.uploaded_by ?? null,
      repository_id: blob.repository_id ?? null,
      repository_label: blob.repository_label ?? null,
      base_sha256: blob.base_sha256 ?? null,
      archive_kind: blob.archive_kind ?? null,
    }),
  );
  return { archives, unreadable, damaged: [...damaged].map((blob) => damagedOf(blob, null)) };
}

const damagedOf = (
  { commit_sha, sha256, repository_label: label }: Pick<MirrorBlob, 'commit_sha' | 'sha256' | 'repository_label'>,
  copy: string | null,
): DamagedArchive => ({ commit_sha, sha256, repository_label: label ?? null, copy });

/**
 * False when the hub says that the bytes are damaged: nobody can download them. An archive that does not arrive for any other reason
 * ends the rotation, which would make it unreadable.
 */
async function isDownloaded(hub: MirrorHub, blob: MirrorBlob, file: string): Promise<boolean> {
  try {
    await hub.download(blob, file, () => undefined);
    return true;
  } catch (error) {
    if (!(error instanceof ClientError) || !(await hub.isDamaged(blob))) throw error;
    return false;
  }
}

/** Downloads the copies again that were changed on this disk since an earlier run, while the former credential reads them. */
async function saveChanged(hub: MirrorHub, folder: string, archives: readonly Saved[]): Promise<void> {
  for (const saved of archives) {
    const file = join(folder, saved.sha256);
    // The hub may have replaced the credential without an answer that arrived: then it does not have it any more.
    if (isSaved(folder, saved) || !(await hub.has(saved))) continue;
    await hub.download(saved, file, () => undefined);
    flushPath(file);
  }
  flushPath(folder);
}

function requireRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (bytes + limits.diskFreeBytesMin <= free) return;
  throw new ClientError(
    `the archives need ${formatBytes(bytes)} on the disk of ${folder}, and ${formatBytes(free)} are free. Nothing was changed. ` +
      'Free some space, or set XDG_CONFIG_HOME to a folder on a larger disk.',
    backupExit.full,
  );
}

/** Sends the copies that are as they were downloaded, and removes each. Resolves with the others, which stay. */
async function sendAgain(
  steps: RotationSteps,
  sender: MirrorHub,
  folder: string,
  archives: readonly Saved[],
): Promise<readonly DamagedArchive[]> {
  const changed: DamagedArchive[] = [];
  for (const [index, saved] of archives.entries()) {
    steps.progress('sending again', index, archives.length);
    // Sent before the interruption, and its copy removed.
    const copy = join(folder, saved.sha256);
    if (!existsSync(copy)) continue;
    const bytes = readFileSync(copy);
    if (digest(bytes) !== saved.sha256) {
      // Sent before as well, if the hub has it under the new credential.
      if (await sender.has(saved)) rmSync(copy, { force: true });
      else changed.push(damagedOf(saved, copy));
      continue;
    }
    const facts = {
      commit: saved.commit_sha,
      uploadedBy: saved.uploaded_by ?? undefined,
      repositoryId: saved.repository_id ?? undefined,
      repositoryLabel: saved.repository_label ?? undefined,
      base: saved.base_sha256 ?? undefined,
      kind: saved.archive_kind ?? undefined,
    };
    await sender.upload(bytes, facts, () => undefined);
    rmSync(copy, { force: true });
  }
  return changed;
}

function isSaved(folder: string, { sha256 }: Pick<MirrorBlob, 'sha256'>): boolean {
  const file = join(folder, sha256);
  return existsSync(file) && digest(readFileSync(file)) === sha256;
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function readJournal(path: string): Journal | undefined {
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  try {
    return journalSchema.parse(JSON.parse(text));
  } catch {
    throw new ClientError(`${path} cannot be read by this version of cairn. Keep it, and update cairn.`);
  }
}

function writeJournal(path: string, journal: Journal): void {
  writePrivateFile(path, `${JSON.stringify(journal)}\n`);
}
