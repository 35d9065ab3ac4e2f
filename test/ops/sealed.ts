/** What tests of `cairn rekey` share: a stopped hub with something sealed, and what must open again. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Account, type Credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { withHub } from '../support/use-hub.ts';

export interface Kept {
  readonly who: Account & Credential;
  readonly commit: string;
  readonly bytes: Buffer;
}

export const keyIn = (folder: string): string => readFileSync(join(folder, 'master.key'), 'utf8').trim();
export const hex = (): string => randomBytes(32).toString('hex');

/** A stopped hub with one blob and the credential that uploaded it. */
export async function stoppedHub(env: Record<string, string> = {}): Promise<{ folder: string; kept: Kept }> {
  const folder = temporaryFolder();
  const kept = await withHub({ dataFolder: folder, env }, async (hub) => {
    const made = { who: await mirrorAccount(hub), commit: randomCommit(), bytes: randomBytes(1000) };
    expect((await upload(hub, made.who, made.commit, made.bytes)).status).toBe(200);
    return made;
  });
  return { folder, kept };
}

/** The token and secret from before still upload and download, and the data verifies. */
export async function expectServes(
  folder: string,
  { who, commit, bytes }: Kept,
  env: Record<string, string> = {},
): Promise<void> {
  await withHub({ dataFolder: folder, env }, async (hub) => {
    expect((await download(hub, who, commit)).bytes.equals(bytes)).toBe(true);
    expect((await upload(hub, who, randomCommit(), bytes)).status).toBe(200);
    expect((await hub.cli('verify')).code).toBe(0);
  });
}
