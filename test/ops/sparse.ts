/** What tests of `cairn compact` share: a data file of mostly free pages, and the blobs in it. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openEnvironment } from '../../src/store/environment.ts';
import type { Hub } from '../support/hub.ts';
import { type Account, type Credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { withHub } from '../support/use-hub.ts';

const FILLER_ROWS = 2000;
const FILLER_BYTES = 10_000;

export interface Kept {
  readonly who: Account & Credential;
  readonly blobs: Map<string, Buffer>;
}

export async function keep(on: Hub, { who, blobs }: Kept, size: number): Promise<void> {
  const [commit, bytes] = [randomCommit(), randomBytes(size)];
  expect((await upload(on, who, commit, bytes)).status).toBe(200);
  blobs.set(commit, bytes);
}

export async function expectKept(on: Hub, { who, blobs }: Kept): Promise<void> {
  for (const [commit, bytes] of blobs) expect((await download(on, who, commit)).bytes.equals(bytes)).toBe(true);
}

/** A folder with some blobs, whose data file is mostly free pages: rows that stood there once. */
export async function sparseFolder(): Promise<{ folder: string; kept: Kept }> {
  const folder = temporaryFolder();
  const kept = await withHub({ dataFolder: folder }, async (hub) => {
    const made: Kept = { who: await mirrorAccount(hub), blobs: new Map() };
    for (const size of [10, 70_000, 2_000_000]) await keep(hub, made, size);
    return made;
  });
  await fill(folder);
  return { folder, kept };
}

export async function fill(folder: string): Promise<void> {
  const file = openEnvironment({ path: join(folder, 'cairn.mdb'), mapBytes: 2 ** 34, readOnly: false });
  const rows = file.openDB<Buffer>({ name: 'mirror_chunks', encoding: 'binary', keyEncoding: 'ordered-binary' });
  const keys = Array.from({ length: FILLER_ROWS }, (_, index) => [`filler-${index}`, 0]);
  await file.transaction(() => {
    for (const key of keys) rows.putSync(key, randomBytes(FILLER_BYTES));
  });
  await file.transaction(() => {
    for (const key of keys) rows.removeSync(key);
  });
  await file.close();
}
