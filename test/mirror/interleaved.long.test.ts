/** Many downloads at once, fast and slow, between uploads: every one its own bytes. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { AGENT } from '../support/http.ts';
import { type Credential, download, mirrorAccount, randomCommit, sha256, upload } from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';
import { seed } from '../support/seed.ts';
import { useHub } from '../support/use-hub.ts';

const MIB = 1024 * 1024;
const SIZES = [1, 500, 65_536, 65_537, 300_000, MIB - 1, MIB, MIB + 1, 2_500_000, 4 * MIB, 6 * MIB + 7, 9 * MIB];

interface Stored {
  readonly who: Credential;
  readonly commit: string;
  readonly bytes: Buffer;
}

const hub = useHub();
const blobs: Stored[] = [];
beforeAll(async () => {
  const owners = [await mirrorAccount(hub), await mirrorAccount(hub)];
  for (const [at, size] of [...SIZES, ...SIZES].entries()) {
    const who = owners[at % owners.length];
    if (who !== undefined) blobs.push(await store(who, size + (at % 3)));
  }
});

async function store(who: Credential, size: number): Promise<Stored> {
  const [commit, bytes] = [randomCommit(), randomBytes(size)];
  const answer = await upload(hub, who, commit, bytes);
  if (answer.status !== 200) throw new Error(`upload answered ${answer.status}: ${answer.text}`);
  return { who, commit, bytes };
}

/** Downloads with a reader that stops for a while after every so many bytes; gives the digest and the length. */
async function slowDownload({ who, commit }: Stored, { stopEvery = 200_000, stopMs = 5 } = {}) {
  const outgoing = request(`${hub.url}/api/cert_mirror/${commit}/download`, {
    headers: { Authorization: `McpKey ${who.token}`, 'User-Agent': AGENT },
    agent: false,
  });
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const hash = createHash('sha256');
  let length = 0;
  let sinceStop = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    hash.update(part);
    length += part.length;
    sinceStop += part.length;
    if (sinceStop < stopEvery) continue;
    sinceStop = 0;
    // The socket is not read in the meantime, so the hub runs into a full one.
    await new Promise((resolve) => setTimeout(resolve, stopMs));
  }
  return { status: incoming.statusCode, length, sha256: hash.digest('hex') };
}

test('[MIR-13] 48 downloads at once, half of them slow, between 24 uploads, each give their own bytes', async () => {
  const expected = ({ bytes }: Stored) => ({ status: 200, length: bytes.length, sha256: sha256(bytes) });
  const slow = blobs.map(async (blob) => expect(await slowDownload(blob)).toEqual(expected(blob)));
  const fast = blobs.map(async (blob) => {
    const answer = await download(hub, blob.who, blob.commit);
    const seen = { status: answer.status, length: answer.bytes.length, sha256: sha256(answer.bytes) };
    expect(seen).toEqual(expected(blob));
  });
  const uploads = blobs.map(({ who }, at) => store(who, (SIZES[at % SIZES.length] ?? 1) + 5));
  const [added] = await Promise.all([Promise.all(uploads), ...slow, ...fast]);
  for (const blob of added) expect(await slowDownload(blob, { stopMs: 0 })).toEqual(expected(blob));
  for (const who of new Set(blobs.map((blob) => blob.who))) expect(await listAll(hub, who)).toHaveLength(24);
  expect(await verified(hub)).toMatchObject({ code: 0, blobs: 48, staged_uploads: 0 });
});

test('[MIR-13] a reader that goes away in the middle harms no other', async () => {
  const large = blobs.filter((blob) => blob.bytes.length > 2 * MIB);
  const leaving = large.map(
    (blob) =>
      new Promise<void>((resolve) => {
        const outgoing = request(`${hub.url}/api/cert_mirror/${blob.commit}/download`, {
          headers: { Authorization: `McpKey ${blob.who.token}`, 'User-Agent': AGENT },
          agent: false,
        });
        outgoing.on('error', () => resolve());
        outgoing.on('response', (incoming) => {
          incoming.on('error', () => resolve());
          incoming.once('data', () => {
            outgoing.destroy();
            resolve();
          });
        });
        outgoing.end();
      }),
  );
  const staying = large.map(async (blob) =>
    expect(await slowDownload(blob)).toMatchObject({ length: blob.bytes.length, sha256: sha256(blob.bytes) }),
  );
  await Promise.all([...leaving, ...staying]);
});

test(`[MIR-15] ranges at random places, many at once, are cut right (FC_SEED=${seed})`, async () => {
  const place = fc.record({
    blob: fc.nat({ max: blobs.length - 1 }),
    from: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    length: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 3 * MIB })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 4, maxLength: 12 }), async (places) => {
      await Promise.all(
        places.map(async ({ blob: at, from, length }) => {
          const blob = blobs[at];
          if (blob === undefined) throw new Error('there is no such blob');
          const total = blob.bytes.length;
          const start = Math.floor(from * total);
          const end = Math.min(start + length, total);
          const answer = await download(hub, blob.who, blob.commit, { Range: `bytes=${start}-${start + length - 1}` });
          expect(answer.status).toBe(206);
          expect(answer.headers['content-range']).toBe(`bytes ${start}-${end - 1}/${total}`);
          expect(answer.bytes.equals(blob.bytes.subarray(start, end))).toBe(true);
        }),
      );
    }),
    { seed, numRuns: 30 },
  );
});
