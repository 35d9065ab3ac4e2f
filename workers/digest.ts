/** Hashes bodies off the main thread: in the chunks that arrive, or whole. */
import type { MessagePort } from 'node:worker_threads';
import { digestsOf, type RunningDigest, startDigest, startFileDigest } from '../src/pool/digest.ts';
import type {
  DigestBodiesInput,
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
  return received(port, startFileDigest(sizeBytes));
}

/** Hashes whole bodies. */
export function digestBodies({ bodies }: DigestBodiesInput): readonly Digests[] {
  return bodies.map(({ bytes, hmacKey }) => digestsOf(bytes, hmacKey));
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
