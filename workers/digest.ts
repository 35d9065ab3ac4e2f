/** Hashes bodies off the main thread: in the chunks that arrive, or whole. */
import type { MessagePort } from 'node:worker_threads';
import { digestsOf, type RunningDigest, startDigest, startFileDigest } from '../src/pool/digest.ts';
import {
  BODY_DIGESTS_BYTES,
  type DigestBodiesInput,
  type DigestFileInput,
  type DigestMessage,
  type DigestReturn,
  type DigestStreamInput,
  type Digests,
  type FileHashes,
  SHA256_BYTES,
} from '../src/pool/jobs.ts';

/**
 * Runs until an `end` message. Resolves with undefined when the port closes first, because the upload was abandoned.
 */
export function digestStream({ port, hmacKey }: DigestStreamInput): Promise<Digests | undefined> {
  return received(port, startDigest(hmacKey));
}

/** Like `digestStream`, for SHA-256 and the git blob id. */
export function digestFile({ port, sizeBytes }: DigestFileInput): Promise<FileHashes | undefined> {
  return received(port, startFileDigest(sizeBytes));
}

/** Hashes whole bodies. */
export function digestBodies({ memory, lengths, hmacKeys }: DigestBodiesInput): Uint8Array {
  const digests = new Uint8Array(lengths.length * BODY_DIGESTS_BYTES);
  let from = 0;
  lengths.forEach((length, index) => {
    const { sha256, hmac } = digestsOf(new Uint8Array(memory, from, length), hmacKeys[index] as Uint8Array);
    digests.set(sha256, index * BODY_DIGESTS_BYTES);
    digests.set(hmac, index * BODY_DIGESTS_BYTES + SHA256_BYTES);
    from += length;
  });
  return digests;
}

function received<T>(port: MessagePort, digest: RunningDigest<T>): Promise<T | undefined> {
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
