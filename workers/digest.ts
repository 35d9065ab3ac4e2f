/** Hashes the chunks of a body off the main thread. */
import { createHash } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import { startDigest } from '../src/pool/digest.ts';
import type {
  DigestFileInput,
  DigestMessage,
  DigestReturn,
  DigestStreamInput,
  Digests,
  FileHashes,
} from '../src/pool/jobs.ts';

/**
 * Runs until an `end` message. Resolves with undefined when the port closes first, because the upload was abandoned.
 */
export function digestStream({ port, hmacKey }: DigestStreamInput): Promise<Digests | undefined> {
  return received(port, startDigest(hmacKey));
}

/** Like `digestStream`, for SHA-256 and the git blob id. */
export function digestFile({ port, sizeBytes }: DigestFileInput): Promise<FileHashes | undefined> {
  const sha256 = createHash('sha256');
  const sha1 = createHash('sha1').update(`blob ${sizeBytes}\0`);
  return received(port, {
    update(bytes) {
      sha256.update(bytes);
      sha1.update(bytes);
    },
    finish: () => ({ sha256: sha256.digest('hex'), gitSha: sha1.digest('hex') }),
  });
}

interface Running<T> {
  update(bytes: Uint8Array): void;
  finish(): T;
}

function received<T>(port: MessagePort, digest: Running<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    port.on('close', () => resolve(undefined));
    port.on('message', (message: DigestMessage) => {
      if (message.type === 'end') {
        resolve(digest.finish());
        return;
      }
      digest.update(new Uint8Array(message.buffer, 0, message.length));
      const reply: DigestReturn = { buffer: message.buffer };
      port.postMessage(reply, [message.buffer]);
    });
  });
}
