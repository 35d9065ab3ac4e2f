/** sync_push from outside: what it answers, in which order it decides, and what it refuses. */
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { clockAt, type Device, gitShaOf, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 30, verified: true });
let laptop: Device;
let phone: Device;

beforeAll(async () => {
  laptop = await newDevice(hub);
  phone = laptop.other('phone');
});

test('[SYN-1] a push answers with hashes, clocks, size, time and number of the change', async () => {
  const content = 'Grüße 😀\n';
  const hlc = laptop.clock();
  const mtime = '2026-11-20T20:18:57Z';
  const made = await laptop.push('notes/a.md', content, { hlc, mtime });
  expect(made).toEqual({
    vault_id: expect.stringMatching(/^v_[0-9a-f]{16}$/),
    path: 'notes/a.md',
    sha256: sha256Of(content),
    git_sha: gitShaOf(content),
    hlc,
    previous_hlc: null,
    size_bytes: Buffer.byteLength(content),
    executable: false,
    stored_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    seq: 1,
    status: 'created',
    warnings: [],
  });
  const next = laptop.clock();
  const changed = await laptop.push('notes/a.md', 'more', { hlc: next });
  expect(changed).toMatchObject({ status: 'updated', hlc: next, previous_hlc: hlc, seq: 2 });
});

test('[SYN-1] an agent writes with path and content alone, and never over what it has not read', async () => {
  const agent = await newDevice(hub);
  const write = (more: object) => agent.result<{ sha256: string; hlc: string; status: string }>('sync_push', more);
  const made = await write({ path: 'plan.md', content: 'one\n' });
  expect(made).toMatchObject({ status: 'created', sha256: sha256Of('one\n'), hlc: expect.stringMatching(/^\d{4}-/) });
  expect(await write({ path: 'plan.md', content: 'one\n' })).toMatchObject({ status: 'unchanged' });
  const refused = await agent.refusal('sync_push', { path: 'plan.md', content: 'two\n' });
  expect(refused).toMatchObject({
    code: -32006,
    message: expect.stringContaining(`Nothing was changed: read it, then push again with base_sha ${made.sha256}`),
    data: { base_sha: made.sha256, conflict_id: null, next: 'sync_pull' },
  });
  expect(await agent.result('sync_pending_conflicts', {})).toMatchObject({ conflicts: [] });
  const { base_sha: base } = refused.data as { base_sha: string };
  expect(await write({ path: 'plan.md', content: 'two\n', base_sha: base })).toMatchObject({ status: 'updated' });
  expect(await agent.refusal('sync_push', { path: 'b.md', content: 'b', sha256: sha256Of('c') })).toMatchObject({
    data: { field: 'sha256' },
  });
  const many = {
    files: [
      { path: 'plan.md', content: 'three' },
      { path: 'c.md', content: 'c' },
    ],
  };
  expect(await agent.result('sync_push_many', many)).toMatchObject({ accepted: 1, refused: 1 });
});

test('[SYN-1] empty content is a file, and a long one is stored as it is', async () => {
  expect(await laptop.push('empty', '')).toMatchObject({ size_bytes: 0, sha256: sha256Of(''), git_sha: gitShaOf('') });
  const long = 'line "quoted" \\ and ünïcode \u2028\n'.repeat(40_000);
  const made = await laptop.push('long.txt', long);
  expect(made).toMatchObject({ size_bytes: Buffer.byteLength(long), sha256: sha256Of(long), git_sha: gitShaOf(long) });
  expect(await laptop.push('long.txt', long)).toMatchObject({ status: 'unchanged', seq: made.seq });
});

test('[SYN-2] git_sha is what git gives the same bytes', async () => {
  const content = 'as git hashes it\n';
  const { git_sha } = await laptop.push('git.txt', content);
  // Away from this checkout, whose repository may be out of reach.
  const options = { input: content, encoding: 'utf8', cwd: tmpdir() } as const;
  expect(git_sha).toBe(execFileSync('git', ['hash-object', '--stdin'], options).trim());
});

test('[SYN-2] content that arrived otherwise than its sha256 says is refused, short or long', async () => {
  for (const content of ['short', 'x'.repeat(200_000)]) {
    const refused = await laptop.refusedPush('sha.txt', content, { sha256: sha256Of('other') });
    expect(refused).toMatchObject({ code: -32602, data: { field: 'sha256' } });
    expect(refused.message).toMatch(/send it again/);
  }
  expect(await laptop.push('sha.txt', 'x', { sha256: sha256Of('x').toUpperCase() })).toMatchObject({
    status: 'created',
  });
});

test('[SYN-1] what a push must say, and what does not go together', async () => {
  const wrong: [object, string][] = [
    [{ content: undefined }, 'content'],
    [{ sha256: undefined }, 'sha256'],
    [{ device_id: '' }, 'device_id'],
    [{ device_id: 'a\nb' }, 'device_id'],
    [{ device_id: 'a'.repeat(129) }, 'device_id'],
    [{ path: undefined }, 'path'],
    [{ mtime: 'yesterday' }, 'mtime'],
    [{ mtime: '2026-02-30T00:00:00Z' }, 'mtime'],
    [{ mtime: '2026-11-20T20:18:57' }, 'mtime'],
    [{ base_sha: 'abc' }, 'base_sha'],
    [{ base_sha: 'g'.repeat(64) }, 'base_sha'],
    [{ encoding: 'latin1' }, 'encoding'],
    [{ deleted: true }, 'content'],
    [{ deleted: true, content: undefined }, 'sha256'],
    [{ vault_id: 'v_0000000000000000' }, 'vault_id'],
    [{ vault_id: '' }, 'vault_id'],
    [{ contents: 'x' }, 'contents'],
  ];
  for (const [more, field] of wrong) {
    const refused = await laptop.refusedPush('wrong.txt', 'x', more);
    expect([more, refused.code, refused.data['field']]).toEqual([more, -32602, field]);
  }
});

test('[SYN-3] the same bytes again are unchanged, whatever clock or base comes with them', async () => {
  const first = await laptop.push('same.txt', 'same');
  for (const more of [{}, { hlc: clockAt(1000) }, { base_sha: sha256Of('another') }, { base_sha: '' }]) {
    expect(await phone.push('same.txt', 'same', more)).toMatchObject({
      status: 'unchanged',
      seq: first.seq,
      stored_at: first.stored_at,
      hlc: first.hlc,
      previous_hlc: first.hlc,
    });
  }
});

test('[SYN-3] a base that is the current sha256 or git_sha is accepted whatever the clocks say', async () => {
  const first = await laptop.push('base.txt', 'one');
  const old = clockAt(Date.parse('2001-01-01T00:00:00Z'));
  const second = await phone.push('base.txt', 'two', { base_sha: first.sha256.toUpperCase(), hlc: old });
  expect(second).toMatchObject({ status: 'updated', previous_hlc: first.hlc });
  expect(second.hlc > first.hlc).toBe(true);
  expect(second.warnings).toEqual([expect.stringMatching(/clock/)]);
  expect(await laptop.push('base.txt', 'three', { base_sha: gitShaOf('two'), hlc: old })).toMatchObject({
    status: 'updated',
  });
});

test('[SYN-3] another base is a conflict, whatever the clocks say', async () => {
  const first = await laptop.push('stale.txt', 'one');
  await laptop.push('stale.txt', 'two');
  const late = clockAt(Date.now());
  const refused = await phone.refusedPush('stale.txt', 'mine', { base_sha: first.sha256, hlc: late });
  expect(refused).toMatchObject({
    code: -32006,
    data: { your_hlc: late, kind: 'edit/edit', server_sha256: sha256Of('two') },
  });
});

test('[SYN-3] base_sha "" or zeros means that there must be no file', async () => {
  for (const [index, none] of ['', '0'.repeat(40), '0'.repeat(64)].entries()) {
    const path = `new-${index}.txt`;
    expect(await laptop.push(path, 'one', { base_sha: none, hlc: clockAt(5000) })).toMatchObject({ status: 'created' });
    const refused = await phone.refusedPush(path, 'two', { base_sha: none });
    expect(refused).toMatchObject({ code: -32006, data: { kind: 'create/create' } });
  }
});

test('[SYN-2, SYN-3] without a base the newer clock wins, and the other is a conflict with both clocks', async () => {
  const now = Date.now();
  const newer = clockAt(now - 10_000);
  await laptop.push('clock.txt', 'one', { hlc: newer });
  const older = clockAt(now - 12_500);
  const refused = await phone.refusedPush('clock.txt', 'two', { hlc: older });
  expect(refused).toMatchObject({
    code: -32006,
    data: {
      your_hlc: older,
      server_hlc: newer,
      time_diff_seconds: 2.5,
      server_sha256: sha256Of('one'),
      server_git_sha: gitShaOf('one'),
      conflict_id: expect.stringMatching(/^c_[0-9a-f]{16}$/),
    },
  });
  expect(refused.message).toMatch(/sync_merge.*base_sha/);
  expect(refused.message).toContain(refused.data['conflict_id']);
  expect(await phone.refusedPush('clock.txt', 'other', { hlc: newer })).toMatchObject({
    code: -32006,
    data: { time_diff_seconds: 0 },
  });
  expect(await phone.push('clock.txt', 'three', { hlc: clockAt(now - 9999) })).toMatchObject({ status: 'updated' });
});

test('[SYN-4] an older mtime under a newer clock adds a warning and excuses nothing', async () => {
  await laptop.push('mtime.txt', 'one', { mtime: '2026-11-20T12:00:00.000Z' });
  const within = await laptop.push('mtime.txt', 'two', { mtime: '2026-11-20T11:59:58.000Z' });
  expect(within.warnings).toEqual([]);
  const older = await laptop.push('mtime.txt', 'three', { mtime: '2026-11-20T11:59:55.999Z' });
  expect(older).toMatchObject({ status: 'updated', warnings: [expect.stringMatching(/mtime is 2\.0 s older/)] });
  const refused = await phone.refusedPush('mtime.txt', 'four', { hlc: clockAt(1000), mtime: '2030-01-01T00:00:00Z' });
  expect(refused.code).toBe(-32006);
});

test('[SYN-7] numbers and stored_at rise strictly, for pushes that run at once and over restarts', async () => {
  const other = await newDevice(hub);
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, index) => other.push(`f${index}.txt`, `content ${index}`)),
  );
  const bySeq = made.toSorted((a, b) => a.seq - b.seq);
  expect(bySeq.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  const times = bySeq.map(({ stored_at: at }) => Date.parse(at));
  expect(times.every((at, index) => index === 0 || at > (times[index - 1] ?? 0))).toBe(true);
});

test('[SYN-17] content is text of up to 10 MiB; base64 carries bytes, and the sha256 is of those', async () => {
  const bytes = Buffer.from([0, 255, 128, 10, 13, 195, 40]);
  const sent = { content: bytes.toString('base64'), encoding: 'base64', sha256: sha256Of(bytes) };
  const made = await laptop.push('image.png', '', sent);
  expect(made).toMatchObject({ sha256: sha256Of(bytes), git_sha: gitShaOf(bytes), size_bytes: 7 });
  const long = Buffer.alloc(300_000, 0xfe);
  const longSent = { content: long.toString('base64'), encoding: 'base64', sha256: sha256Of(long) };
  expect(await laptop.push('long.bin', '', longSent)).toMatchObject({ size_bytes: 300_000, git_sha: gitShaOf(long) });
  const most = 'm'.repeat(10 * 1024 * 1024);
  expect(await laptop.push('most.txt', most)).toMatchObject({ size_bytes: most.length });
});

test('[SYN-17] content that is too long, no base64, or no Unicode is refused', async () => {
  const over = `${'m'.repeat(10 * 1024 * 1024)}m`;
  const refusals = [
    await laptop.refusedPush('over.txt', over),
    await laptop.refusedPush('over.txt', 'é'.repeat(5 * 1024 * 1024 + 1)),
    await laptop.refusedPush('over.bin', '', {
      content: Buffer.alloc(10 * 1024 * 1024 + 1).toString('base64'),
      encoding: 'base64',
    }),
    ...(await Promise.all(
      ['a', 'ab=', 'abc', 'ab\ncd', 'ab c', 'YQ', 'YR==', 'Y-_=', 'YQ==YQ==', `${'YWJj'.repeat(30_000)}*`].map(
        (content) => laptop.refusedPush('bad.bin', '', { content, encoding: 'base64' }),
      ),
    )),
    await laptop.refusedPush('half.txt', 'a\ud800b'),
    await laptop.refusedPush('half.txt', `${'a'.repeat(100_000)}\udfff`),
  ];
  for (const { code, data } of refusals) expect([code, data['field']]).toEqual([-32602, 'content']);
});
