/** Hashes the chunks of a body off the main thread. */
import { startDigest } from '../src/pool/digest.ts';
import type { DigestMessage, DigestReturn, DigestStreamInput, Digests } from '../src/pool/jobs.ts';

/**
 * Runs until an `end` message. Resolves with undefined when the port closes first, because the upload was abandoned.
 */
export function digestStream({ port, hmacKey }: DigestStreamInput): Promise<Digests | undefined> {
  const digest = startDigest(hmacKey);
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
