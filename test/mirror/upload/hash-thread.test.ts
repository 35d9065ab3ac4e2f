/** Small uploads while the thread that hashes them dies. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { startHub } from '../../support/hub.ts';
import { mirrorAccount, randomCommit, upload } from '../../support/mirror.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PROBE = new URL('../../support/dying-thread.mjs', import.meta.url).href;

test('[OPS-3] small uploads do not fail when the thread dies that hashes them', async () => {
  const file = join(temporaryFolder(), 'died');
  const hub = await startHub({ env: { NODE_OPTIONS: `--import=${PROBE}`, DYING_THREAD_FILE: file } });
  try {
    const who = await mirrorAccount(hub);
    const sent = Array.from({ length: limits.bodiesDigestedAtOnce }, () =>
      upload(hub, who, randomCommit(), randomBytes(limits.wholeUploadBytesMax)),
    );
    for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
    expect(existsSync(file)).toBe(true);
  } finally {
    await hub.stop();
  }
});
