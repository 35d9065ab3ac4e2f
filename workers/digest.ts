/** Hashes bytes off the main thread: SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104) over the same chunks. */
import { createHash, createHmac } from 'node:crypto';
import type { DigestMessage, DigestReturn, DigestStreamInput, Digests, DigestWholeInput } from '../src/pool/jobs.ts';

export function digestWhole({ bytes, hmacKey }: DigestWholeInput): Digests {
  return {
    sha256: createHash('sha256').update(bytes).digest(),
    hmac: createHmac('sha256', hmacKey).update(bytes).digest(),
  };
}

/** Runs until the port says `end`, or closes before that, which means that the body was given up. */
export function digestStream({ port, hmacKey }: DigestStreamInput): Promise<Digests | undefined> {
  const hash = createHash('sha256');
  const hmac = createHmac('sha256', hmacKey);
  return new Promise((resolve) => {
    port.on('close', () => resolve(undefined));
    port.on('message', (message: DigestMessage) => {
      if (message.type === 'end') {
        resolve({ sha256: hash.digest(), hmac: hmac.digest() });
        return;
      }
      const bytes = new Uint8Array(message.buffer, 0, message.length);
      hash.update(bytes);
      hmac.update(bytes);
      const reply: DigestReturn = { buffer: message.buffer };
      port.postMessage(reply, [message.buffer]);
    });
  });
}
