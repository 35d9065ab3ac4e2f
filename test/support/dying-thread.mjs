/** Preloaded into a hub: the first of its threads that computes an HMAC ends there and then, and writes DYING_THREAD_FILE. */
import crypto from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread, threadId } from 'node:worker_threads';

const file = process.env.DYING_THREAD_FILE;

if (!isMainThread && file !== undefined) {
  const { createHmac } = crypto;
  crypto.createHmac = (...given) => {
    try {
      writeFileSync(file, String(threadId), { flag: 'wx' });
    } catch {
      // Another thread died before.
      return createHmac(...given);
    }
    return process.exit(1);
  };
  syncBuiltinESMExports();
}
