/** Pulls as streams: one snapshot whatever happens meanwhile, exact lengths, readers that stall, vanish and cross. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { post, toolRequest, withKey } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import {
  askForLines,
  checkLines,
  type Pulled,
  pull,
  pullPages,
  pullStream,
  pushMany,
  Replica,
  readStream,
  SlowReader,
} from '../../support/pull.ts';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';

/** More than the sockets on the way take in. */
const FILES = 800;
const FILE_BYTES = 20_000;
let hub: Hub;
let device: Device;

const textOf = (n: number, round: number) => `${n} ${round} "é"\n`.repeat(FILE_BYTES / 10).slice(0, FILE_BYTES);
const filesOf = (round: number, count = FILES) =>
  Array.from({ length: count }, (_, n) => ({ path: `f/${n}.md`, content: textOf(n, round) }));

/** What a pull gave, by path. */
const stateOf = (lines: readonly { path: string; sha256: string }[]) =>
  new Map(lines.map(({ path, sha256 }) => [path, sha256]));
const expectedOf = (round: number) => new Map(filesOf(round).map(({ path, content }) => [path, sha256Of(content)]));

/** Long enough for the background to pack what changed. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 1500));

beforeAll(async () => {
  hub = await startHub();
  device = await newDevice(hub);
  await pushMany(device, filesOf(0));
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 40)).toEqual([]);
  expect(JSON.parse((await hub.cli('verify', '--json')).stdout)).toMatchObject({ ok: true, problems: [] });
  expect(await hub.stop()).toBe(0);
});

test('[SYN-20] a stream is the vault as it was when it began, while every file is overwritten, deleted and packed anew', async () => {
  await rest();
  const readers = Array.from({ length: 4 }, () => new SlowReader(device, hub.port, { initial: true }));
  await Promise.all(readers.map((reader) => reader.stall()));
  const sips = setInterval(() => {
    for (const reader of readers) reader.sip();
  }, 3000);
  await pushMany(device, filesOf(1));
  for (const n of [0, 100, 799]) {
    await device.result('sync_push', device.deleteOf(`f/${n}.md`, { base_sha: sha256Of(textOf(n, 1)) }));
  }
  await rest();
  const late = await pullStream(device, { initial: true });
  expect(late.lines).toHaveLength(FILES - 3);
  clearInterval(sips);
  // All at once: one that waits for another is silent meanwhile.
  for (const answer of await Promise.all(readers.map((reader) => reader.finish()))) {
    const { lines, end } = readStream(answer);
    expect(stateOf(lines)).toEqual(expectedOf(0));
    const since = await pullStream(device, { cursor: end.cursor });
    const replica = new Replica();
    replica.apply(lines);
    replica.apply(since.lines);
    expect(new Map(replica.state)).toEqual(stateOf(late.lines));
  }
  await pushMany(device, filesOf(2));
  await rest();
  expect(stateOf((await pullStream(device, { initial: true })).lines)).toEqual(expectedOf(2));
  // What it leaves half done, the next ones find.
}, 400_000);

test('[SYN-20] readers that vanish leave nothing behind, and those that cross get each their own bytes', async () => {
  const other = await newDevice(hub);
  await pushMany(other, filesOf(7, 150));
  const gone = Array.from({ length: 20 }, () => new SlowReader(device, hub.port, { initial: true }));
  await Promise.all(gone.slice(0, 10).map((reader) => reader.stall()));
  for (const reader of gone) reader.vanish();
  const answers = await Promise.all([
    pullStream(device, { initial: true }),
    pullStream(other, { initial: true }),
    pullStream(device, { since: '2026-01-01', device_id: 'tablet' }),
    pull(other, { initial: true, limit: 40 }),
    pullStream(other, { initial: true, device_id: 'nobody' }),
  ]);
  const counts = answers.map((answer) => ('lines' in answer ? answer.lines.length : answer.files.length));
  expect(counts).toEqual([FILES, 150, FILES, 40, 150]);
  // The items of a batch are decided in any order, so which are the first 40 is not known.
  const ofOther = stateOf(filesOf(7, 150).map(({ path, content }) => ({ path, sha256: sha256Of(content) })));
  const limited = [...stateOf((answers[3] as Pulled).files)];
  expect(limited).toHaveLength(40);
  expect(limited.filter(([path, sha]) => ofOther.get(path) !== sha)).toEqual([]);
});

test('[SYN-20, RPC-5] much goes as lines unasked where a client takes them, else as pages of a document', async () => {
  const ask = toolRequest(5, 'sync_pull', { initial: true });
  const body = { method: 'POST', body: JSON.stringify(ask) };
  const json = { 'Content-Type': 'application/json', ...withKey(device.key) };
  const unasked = await call(hub, '/api/mcp', { ...body, headers: { ...json, Accept: '*/*' } });
  expect(unasked.headers['content-type']).toBe('application/x-ndjson');
  expect(Number(unasked.headers['content-length'])).toBe(unasked.bytes.length);
  expect(readStream(unasked.text).start).toMatchObject({ id: 5, total_count: FILES });
  const cut = await post(hub, ask, { ...json, Accept: 'application/json' });
  const first = (cut.json()['result'] as { structuredContent: Pulled }).structuredContent;
  expect([cut.headers['content-type'], first.has_more]).toEqual(['application/json; charset=utf-8', true]);
  expect(cut.bytes.length).toBeLessThan(5 * 1024 * 1024);
  const replica = new Replica();
  replica.apply(first.files);
  let cursor = first.cursor;
  while (cursor !== null) {
    const answer = await post(hub, toolRequest(6, 'sync_pull', { cursor }), { ...json, Accept: 'application/json' });
    const page = (answer.json()['result'] as { structuredContent: Pulled }).structuredContent;
    checkLines(page.files);
    replica.apply(page.files, page.deleted);
    cursor = page.has_more ? page.cursor : null;
  }
  expect(new Map(replica.state)).toEqual(expectedOf(2));
});

test('[SYN-10] pages and since unite to the listing while others write without a pause', async () => {
  const busy = await newDevice(hub);
  await pushMany(
    busy,
    Array.from({ length: 300 }, (_, n) => ({ path: `p/${n}`, content: `${n}` })),
  );
  let writing = true;
  const writer = (async () => {
    const second = busy.other('second');
    second.ms += 1_000_000;
    for (let n = 0; writing; n += 1) {
      await second.push(`p/${n % 350}`, `again ${n}`);
      if (n % 5 === 0) {
        const path = `p/${(n * 7) % 300}`;
        const { files } = await pull(second, { paths: [path] });
        const [file] = files;
        if (file !== undefined) await second.result('sync_push', second.deleteOf(path, { base_sha: file.sha256 }));
      }
    }
  })();
  const [paged, timed] = [new Replica(), new Replica()];
  let cursor = await pullPages(busy, { initial: true, limit: 13 }, paged);
  let since = '2026-01-01';
  for (let round = 0; round < 20; round += 1) {
    cursor = await pullPages(busy, { cursor, limit: 5 }, paged);
    const page = await pull(busy, { since, limit: 17 });
    timed.apply(page.files, page.deleted);
    const last = [...page.files, ...page.deleted].toSorted((a, b) => b.seq - a.seq)[0];
    since = last?.stored_at ?? since;
  }
  writing = false;
  await writer;
  await pullPages(busy, { cursor }, paged);
  for (let more = true; more; ) {
    const page = await pull(busy, { since });
    timed.apply(page.files, page.deleted);
    since = [...page.files, ...page.deleted].toSorted((a, b) => b.seq - a.seq)[0]?.stored_at ?? since;
    more = page.has_more;
  }
  const whole = new Replica();
  whole.apply((await pull(busy, { initial: true })).files);
  expect(paged.state).toEqual(whole.state);
  expect(timed.state).toEqual(whole.state);
});

test('[SYN-20] a stream has a first line, an end with the cursor, and one line for each record in between', async () => {
  const few = await newDevice(hub);
  await few.push('a', 'x');
  const answer = await askForLines(few, { initial: true });
  const [start, file, end, ...none] = answer.text.split('\n').map((line) => (line === '' ? null : JSON.parse(line)));
  expect(start).toEqual({
    type: 'start',
    jsonrpc: '2.0',
    id: 7,
    tool: 'sync_pull',
    total_count: 1,
    total_size_bytes: 1,
  });
  expect(file).toMatchObject({ type: 'file', seq: 1, path: 'a', content: 'x' });
  expect(end).toMatchObject({
    type: 'end',
    has_more: false,
    cursor: expect.any(String),
    server_time: expect.any(String),
  });
  expect(none).toEqual([null]);
  const empty = await pullStream(await newDevice(hub), { initial: true });
  expect(empty.lines).toEqual([]);
});

test('[SYN-10] first pulls again and again, of two vaults, see what is packed and what packs lose at once', async () => {
  const vaults = await Promise.all(
    ['a', 'b'].map(async (name) => ({ who: await newDevice(hub, name), state: new Map() })),
  );
  for (let round = 0; round < 5; round += 1) {
    for (const [index, { who, state }] of vaults.entries()) {
      // As many changes as a pull packs at once; each round takes lines out of packs of earlier ones.
      const files = Array.from({ length: 1100 }, (_, n) => ({
        path: `r/${(n * (round + index + 1)) % 3000}`,
        content: `${round} ${n}`,
      }));
      await pushMany(who, files);
      for (const { path, content } of files) state.set(path, sha256Of(content));
      const [first] = state.keys();
      await who.result('sync_push', who.deleteOf(first, { base_sha: state.get(first) }));
      state.delete(first);
    }
    for (let again = 0; again < 3; again += 1) {
      for (const { who, state } of vaults) {
        const [all, ofOthers] = [{}, { device_id: who.name }].map((more) =>
          pullStream(who, { initial: true, ...more }),
        );
        expect(stateOf((await all)?.lines ?? [])).toEqual(state);
        expect((await ofOthers)?.lines).toEqual([]);
      }
      if (again === 1) await rest();
    }
  }
});
