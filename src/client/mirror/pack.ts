/** Packs a repository: its refs, a git bundle, LFS objects and submodules as chosen, split into encrypted archives. */
import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { limits } from '../../limits/service.ts';
import { encrypt, type Lock } from './age.ts';
import { createBundle, readRefs } from './git/bundle.ts';
import { lfsObjects } from './git/lfs.ts';
import type { Repository } from './git/repository.ts';
import { gitText } from './git/run-git.ts';
import { packSubmodules, type SubmoduleTips, submodulesLeftOut } from './git/submodules.ts';
import { MANIFEST, type Manifest, type MemberRecord, type Ref, refsChange, refsDigest } from './manifest.ts';
import { type NoteFacts, writeNote } from './note.ts';
import { type Piece, planParts } from './plan.ts';
import { type TarMember, writeTar } from './tar/tar-write.ts';

export interface Choices {
  /** Patterns of `git for-each-ref`; empty: all refs. */
  readonly refs: readonly string[];
  readonly hasLfs: boolean;
  readonly hasSubmodules: boolean;
}

/** What an increment and its base have in common: a base without LFS objects would leave them out for ever. */
export function sharedChoices({ hasLfs }: Choices, hasAllLfs: boolean): string {
  if (!hasLfs) return '';
  return hasAllLfs ? 'lfs' : 'some lfs';
}

/** What a backup is made of: HEAD and the chosen refs at one moment. */
export interface RepositorySnapshot {
  readonly head: Manifest['head'];
  readonly refs: readonly Ref[];
  readonly refsSha256: string;
  /** Text that is equal when a backup would contain the same. */
  readonly state: string;
}

/** What is known of the archive that an increment continues. */
export interface PackBase {
  /** Objects of the base, as `^` of the increment. */
  readonly tips: readonly string[];
  /** Its refs; undefined: not known here. */
  readonly refs: readonly Ref[] | undefined;
  readonly submodules: SubmoduleTips;
}

/** A member of the archive, in a file. */
interface PackedMember extends MemberRecord {
  readonly file: string;
}

export interface Packed {
  readonly manifest: Omit<Manifest, 'part' | 'parts' | 'base_sha256'>;
  readonly members: readonly PackedMember[];
  /** Every Git LFS object that it names was on this machine. */
  readonly hasAllLfs: boolean;
}

/** Reads HEAD and the chosen refs. */
export async function readSnapshot(repository: Repository, choices: Choices): Promise<RepositorySnapshot> {
  const { folder, commit, shallow } = repository;
  const [refs, branch] = await Promise.all([
    readRefs(folder, choices.refs),
    gitText(folder, ['symbolic-ref', '--quiet', 'HEAD'], { refusal: 'git symbolic-ref failed.', accepts: [1] }),
  ]);
  const head = { ref: branch === '' ? null : branch, commit };
  const refsSha256 = refsDigest(refs);
  const modules = choices.hasSubmodules ? await submoduleState(folder) : '';
  const chosen = [choices.hasLfs ? 'lfs' : '', choices.hasSubmodules ? 'submodules' : '', modules];
  const state = [refsSha256, head.ref ?? '', commit, shallow.toSorted().join(' '), ...chosen].join('\n');
  return { head, refs, refsSha256, state };
}

async function submoduleState(folder: string): Promise<string> {
  return await gitText(folder, ['submodule', 'status', '--cached', '--recursive'], {
    refusal: 'git submodule failed.',
  });
}

export interface PackOptions {
  readonly repository: Repository;
  readonly snapshot: RepositorySnapshot;
  readonly choices: Choices;
  /** Undefined: a full backup. */
  readonly base: PackBase | undefined;
  /** An empty folder for the bundles. */
  readonly work: string;
  readonly nowMs: number;
  /** What the person was told is missing, for the manifest. */
  readonly leftOut: readonly string[];
}

/** Makes the bundles and the manifest. Throws ClientError when git fails. */
export async function packRepository(options: PackOptions): Promise<Packed> {
  const { repository, snapshot, choices, base, work } = options;
  const { folder, shallow } = repository;
  const bundle = join(work, 'repository.bundle');
  // HEAD in any case: a later push may know this archive by its commit alone.
  const wanted = [...snapshot.refs.map(([name]) => name), 'HEAD'];
  const [hasBundle, lfs, modules] = await Promise.all([
    createBundle(folder, bundle, wanted, base?.tips ?? []),
    lfsObjects(repository, wanted, base?.tips ?? [], choices.hasLfs),
    choices.hasSubmodules
      ? packSubmodules(repository, work, base?.submodules ?? {})
      : submodulesLeftOut(repository).then((leftOut) => ({ records: [], files: [], leftOut })),
  ]);
  const files = [...(hasBundle ? [{ name: 'repository.bundle', file: bundle }] : []), ...modules.files];
  const members = [
    ...(await Promise.all(files.map(async ({ name, file }) => ({ name, file, ...(await measure(file)) })))),
    ...lfs.members,
  ];
  const change =
    base?.refs === undefined ? { set: [...snapshot.refs], removed: [] } : refsChange(base.refs, snapshot.refs);
  return {
    members,
    hasAllLfs: lfs.leftOut.length === 0,
    manifest: {
      format: 'cairn-backup',
      version: 1,
      repository_id: repository.id,
      repository_label: repository.label,
      commit_sha: repository.commit,
      made_at: new Date(options.nowMs).toISOString(),
      head: snapshot.head,
      is_increment: base !== undefined,
      base_refs_sha256: base?.refs === undefined ? null : refsDigest(base.refs),
      refs: { is_complete: base?.refs === undefined, ...change },
      refs_sha256: snapshot.refsSha256,
      shallow: [...shallow],
      members: members.map(({ name, size, sha256 }) => ({ name, size, sha256 })),
      submodules: modules.records,
      has_lfs: choices.hasLfs,
      left_out: [...options.leftOut, ...lfs.leftOut, ...modules.leftOut],
    },
  };
}

async function measure(file: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return { size: statSync(file).size, sha256: hash.digest('hex') };
}

/**
 * Yields the encrypted archives of a packed repository in the order of their upload, one at a time in memory. Each is a
 * tar.gz with the manifest and the pieces of members that fit.
 */
export async function* sealParts(
  packed: Packed,
  facts: Pick<NoteFacts, 'state' | 'choices'>,
  lock: Lock,
  base: string | undefined,
): AsyncGenerator<SealedPart, void> {
  let before = base;
  const plan = planParts(packed.members, limits.backupPartBytes);
  const files = new Map(packed.members.map(({ name, file }) => [name, file]));
  for (const [index, pieces] of plan.entries()) {
    const place = { part: index + 1, parts: plan.length };
    const manifest = Buffer.from(
      `${JSON.stringify({ ...packed.manifest, ...place, base_sha256: before ?? null }, undefined, 1)}\n`,
    );
    const members: TarMember[] = [
      { name: MANIFEST, size: manifest.length, body: [manifest] },
      ...pieces.map((piece) => pieceMember(piece, files.get(piece.name) ?? '')),
    ];
    const tar = writeTar(members, Date.parse(packed.manifest.made_at) / 1000);
    const out: Buffer[] = [];
    await pipeline(Readable.from(tar), createGzip(), async (source: AsyncIterable<Buffer>) => {
      for await (const part of source) out.push(part);
    });
    const note = 'passphrase' in lock ? undefined : writeNote({ recipients: lock.recipients, ...facts, ...place });
    const bytes = await encrypt(Buffer.concat(out), lock, note);
    yield { ...place, bytes, base: before };
    before = createHash('sha256').update(bytes).digest('hex');
  }
}

export interface SealedPart {
  readonly part: number;
  readonly parts: number;
  readonly bytes: Uint8Array;
  /** SHA-256 of the archive before it. */
  readonly base: string | undefined;
}

function pieceMember({ name, offset, size, number }: Piece, file: string): TarMember {
  return {
    name: number === undefined ? name : `${name}.part-${String(number).padStart(4, '0')}`,
    size,
    body: bytesOf(file, offset, size),
  };
}

/** Opens the file when its bytes are asked for: a backup may have thousands of members. */
async function* bytesOf(file: string, offset: number, size: number): AsyncGenerator<Buffer, void> {
  if (size > 0) yield* createReadStream(file, { start: offset, end: offset + size - 1 }) as AsyncIterable<Buffer>;
}
