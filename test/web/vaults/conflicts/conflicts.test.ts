/** Settling conflicts with a browser without script: both sides, mine, theirs, a text made of both. */
import { expect, test } from 'vitest';
import { limits } from '../../../../src/limits/service.ts';
import { PASSWORD } from '../../../support/gateway.ts';
import { PageClient, signedUp } from '../../../support/page-client.ts';
import { Device, type Pushed, sha256Of } from '../../../support/sync.ts';
import { useHub } from '../../../support/use-hub.ts';

interface Clash {
  readonly client: PageClient;
  readonly device: Device;
  readonly vault: string;
  readonly page: string;
}

const BASE = 'one\ntwo\nthree\nfour\nfive\n';
const PATH = 'notes.md';

const hub = useHub({ loudest: 40, verified: true });
let count = 0;

/** A file that two devices changed from the same base; undefined: that side deletes it. */
async function clash(theirs: string | undefined, mine: string | undefined, base = BASE): Promise<Clash> {
  count += 1;
  const client = await signedUp(hub, `clash${count}@example.org`, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const device = new Device(hub, key, 'desktop');
  const phone = device.other('phone');
  const first = await device.result<Pushed>('sync_push', device.pushOf(PATH, base));
  const change = (who: Device, content: string | undefined) =>
    content === undefined
      ? { path: PATH, deleted: true, base_sha: first.sha256, hlc: who.clock(), device_id: who.name }
      : who.pushOf(PATH, content, { base_sha: first.sha256 });
  await device.result('sync_push', change(device, theirs));
  const refused = await phone.call('sync_push', change(phone, mine));
  const id = String(refused.error?.data?.['conflict_id']);
  const vault = first.vault_id;
  const page = `/vaults/${vault}/conflicts/${id}`;
  await client.open(page);
  expect(client.answer?.status).toBe(200);
  return { client, device, vault, page };
}

/** What the file holds now; undefined: it is deleted. */
async function current({ client, vault }: Clash): Promise<string | undefined> {
  const reader = new PageClient(client.hub);
  for (const [name, value] of client.cookies) reader.cookies.set(name, value);
  const answer = await reader.send(`/vaults/${vault}/bytes?path=${PATH}`);
  return answer.status === 200 ? answer.text : undefined;
}

const THEIRS = BASE.replace('two', 'two of theirs');
const MINE = BASE.replace('two', 'two of mine').replace('five', 'five of mine');

/** The form of the page that has a button of this name and value. */
function formFor({ client }: Clash, keep: string): URLSearchParams {
  const found = client.forms.find(({ html }) => html.includes(`name="keep" value="${keep}"`));
  return new URLSearchParams([...(found?.fields ?? []), ['keep', keep]]);
}

async function settle(at: Clash, keep: string, fields: Record<string, string> = {}) {
  const sent = formFor(at, keep);
  for (const [name, value] of Object.entries(fields)) sent.set(name, value);
  return await at.client.post(at.page, sent);
}

test('[WEB-1, SYN-14] a vault says what waits to be settled, and the page shows both sides beside each other', async () => {
  const at = await clash(THEIRS, MINE);
  const { client, vault, page } = at;
  await client.open('/vaults');
  expect(client.text).toContain('Resolve 1 conflict');
  await client.open(`/vaults/${vault}`);
  expect(client.text).toContain('1 change conflicts with a newer version');
  await client.open(`/vaults/${vault}/conflicts`);
  expect(client.html).toContain(`href="${page}"`);
  await client.open(page);
  const rows = [...client.html.matchAll(/<tr class="(\w+)">([\s\S]*?)<\/tr>/g)].map(([, kind, cells = '']) => [
    kind,
    ...[...cells.matchAll(/<td class="(?:removed|added|plain)">(?:<span class="mark">.<\/span>)?(.*?)<\/td>/g)].map(
      ([, text]) => text,
    ),
  ]);
  expect(rows).toContainEqual(['changed', 'two of <b>theirs</b>', 'two of <b>mine</b>']);
  expect(rows).toContainEqual(['changed', 'five', 'five<b> of mine</b>']);
  for (const name of ['On the hub (desktop)', 'From phone']) {
    expect([name, client.html.split(`<bdi class="given">${name}</bdi>`).length]).toEqual([name, 4]);
  }
  expect(rows).toContainEqual(['same', 'three', 'three']);
  for (const [side, content] of [
    ['yours', MINE],
    ['theirs', THEIRS],
  ] as const) {
    const bytes = await client.send(`${page}/${side}`);
    expect([side, bytes.text, bytes.headers['content-disposition']]).toEqual([
      side,
      content,
      expect.stringMatching(/^attachment; filename\*=UTF-8''[\w.%-]+$/),
    ]);
  }
});

test.each([
  ['yours', MINE],
  ['theirs', THEIRS],
])('[WEB-1, SYN-14] keeping %s resolves the conflict, and none is left', async (keep, content) => {
  const at = await clash(THEIRS, MINE);
  const answer = await settle(at, keep);
  expect([answer.status, answer.headers.location]).toEqual([303, `/vaults/${at.vault}`]);
  await at.client.open(`/vaults/${at.vault}`);
  expect(at.client.text).toContain(`The conflict in “${PATH}” is resolved.`);
  expect(await current(at)).toBe(content);
  await at.client.open(`/vaults/${at.vault}/conflicts`);
  expect(at.client.text).toContain('No conflicts');
  await at.client.open(at.page);
  expect(at.client.text).toContain('This conflict is already resolved.');
});

test('[WEB-1, SYN-14] each of several conflicts is one click from the one before', async () => {
  const at = await clash(THEIRS, MINE);
  const phone = at.device.other('phone');
  for (const path of ['a.md', 'z.md']) {
    const { sha256 } = await at.device.push(path, BASE);
    await at.device.push(path, THEIRS, { base_sha: sha256 });
    await phone.refusedPush(path, MINE, { base_sha: sha256 });
  }
  const nextOf = (html: string) => /href="([^"]+)">Next conflict</.exec(html)?.[1] ?? '';
  await at.client.open(at.page);
  const z = nextOf(at.client.html);
  await at.client.open(z);
  const a = nextOf(at.client.html);
  await at.client.open(a);
  expect([nextOf(at.client.html), new Set([at.page, z, a]).size]).toEqual([at.page, 3]);
  const settled = await at.client.post(a, formFor(at, 'yours'));
  expect([settled.status, settled.headers.location]).toEqual([303, at.page]);
});

test('[WEB-1, SYN-13] the editor begins with both sides merged, refuses marks that were left, and keeps what it is given', async () => {
  const at = await clash(THEIRS, MINE);
  const draft = formFor(at, 'edited').get('content') ?? '';
  expect(draft).toContain('five of mine');
  expect(draft).toMatch(/^<{7} From phone\ntwo of mine\n={7}\ntwo of theirs\n>{7} On the hub \(desktop\)$/m);
  const refused = await settle(at, 'edited', { content: draft.replace('three', 'three, edited') });
  expect([refused.status, at.client.text]).toEqual([
    422,
    expect.stringContaining('The text still contains conflict markers'),
  ]);
  expect(formFor(at, 'edited').get('content')).toContain('three, edited');
  const merged = 'one\ntwo of both\nthree\nfour\nfive of mine\n';
  // As a browser sends it.
  expect((await settle(at, 'edited', { content: merged.replaceAll('\n', '\r\n') })).status).toBe(303);
  expect(await current(at)).toBe(merged);
});

test('[WEB-1, SYN-13] line ends stay what they were: a file of CR LF comes back with CR LF', async () => {
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  const at = await clash(
    crlf(BASE.replace('one', 'one of theirs')),
    crlf(BASE.replace('five', 'five of mine')),
    crlf(BASE),
  );
  const draft = formFor(at, 'edited').get('content') ?? '';
  expect((await settle(at, 'edited', { content: draft })).status).toBe(303);
  expect(await current(at)).toBe(crlf(BASE.replace('one', 'one of theirs').replace('five', 'five of mine')));
});

test('[WEB-1, SYN-5] a file that changed since the page was opened is settled only after another look', async () => {
  const at = await clash(THEIRS, MINE);
  const form = formFor(at, 'yours');
  const newer = THEIRS.replace('four', 'four, newer');
  await at.device.result('sync_push', at.device.pushOf(PATH, newer, { base_sha: sha256Of(THEIRS) }));
  expect((await at.client.post(at.page, form)).status).toBe(422);
  expect(at.client.text).toContain('The file changed after you opened this page.');
  expect(at.client.text).toContain('four, newer');
  expect(await current(at)).toBe(newer);
  expect((await settle(at, 'yours')).status).toBe(303);
  expect(await current(at)).toBe(MINE);
});

test.each([
  ['the hub has deleted', undefined, MINE, 'Deletes the file'],
  ['the device deletes', THEIRS, undefined, 'Deletes the file'],
])('[WEB-1, SYN-6] a file that %s is kept or deleted, as is chosen', async (_name, theirs, mine, says) => {
  for (const keep of ['yours', 'theirs'] as const) {
    const at = await clash(theirs, mine);
    expect(at.client.text).toContain(says);
    expect(at.client.text).toContain('cannot be merged here');
    expect((await at.client.send(`${at.page}/${mine === undefined ? 'yours' : 'theirs'}`)).status).toBe(404);
    await at.client.open(at.page);
    expect((await settle(at, keep)).status).toBe(303);
    expect(await current(at)).toBe(keep === 'yours' ? mine : theirs);
  }
});

test('[WEB-1, LIM-2] sides that are too large to be shown are downloaded and chosen between', async () => {
  const large = (word: string) => `${word}\n`.repeat(limits.editedTextBytesMax / 4);
  const at = await clash(large('theirs'), large('mine'));
  expect(at.client.text).toContain('cannot be merged here');
  expect((await at.client.send(`${at.page}/yours`)).text).toBe(large('mine'));
  await at.client.open(at.page);
  expect((await settle(at, 'yours')).status).toBe(303);
  expect(await current(at)).toBe(large('mine'));
});

test('[WEB-1, LIM-2] the largest text that is edited comes back through the form, in the longest form of its characters', async () => {
  const fill = '€'.repeat(limits.editedTextBytesMax / 3 - 100);
  const at = await clash(`theirs\n\n${fill}`, `\n\n${fill}mine`, `\n\n${fill}`);
  const draft = formFor(at, 'edited').get('content') ?? '';
  expect(draft.length).toBeGreaterThan(fill.length);
  expect((await settle(at, 'edited', { content: draft.replace(/^.*[<=>]{7}.*$/gm, '') })).status).toBe(303);
  expect(await current(at)).toContain(fill);
});

test('[WEB-6, KEY-8] nobody else settles a conflict, and nothing but a form of this browser does', async () => {
  const at = await clash(THEIRS, MINE);
  const form = formFor(at, 'yours');
  const stranger = await clash(THEIRS, MINE);
  expect((await stranger.client.send(at.page)).status).toBe(404);
  expect((await stranger.client.send(`${at.page}/yours`)).status).toBe(404);
  await stranger.client.open(stranger.page);
  const own = formFor(stranger, 'yours');
  for (const page of [at.page, at.page.replace(at.vault, stranger.vault)]) {
    expect((await stranger.client.post(page, own)).status).toBe(404);
  }
  form.delete('csrf');
  expect((await at.client.post(at.page, form)).status).toBe(403);
  expect(await current(at)).toBe(THEIRS);
  await at.client.open(at.page);
  expect((await settle(at, 'yours', { keep: 'neither' })).status).toBe(422);
});

test('[WEB-4] markup in either side is shown as text, in the comparison and in the editor', async () => {
  const evil = '</textarea></td><script>alert(1)</script>\n';
  const at = await clash(`${evil}theirs\n`, `${evil}mine\n`, 'base\n');
  expect(at.client.html.match(/<script/g)).toEqual(['<script']);
  expect(at.client.text).toContain('</textarea></td><script>alert(1)</script>');
  expect(formFor(at, 'edited').get('content')).toContain(evil.trim());
});

test('[WEB-20] an overlapping place is shown three-way: mine, before both, theirs, each with its device', async () => {
  const { client } = await clash(THEIRS, MINE);
  const [, table = ''] = /data-three-way[^>]*>([\s\S]*?)<\/table>/.exec(client.html) ?? [];
  expect([...table.matchAll(/<pre[^>]*>([\s\S]*?)<\/pre>/g)].map(([, text = '']) => text.trim())).toEqual([
    'two of mine',
    'two',
    'two of theirs',
  ]);
  const [mine = '', before, theirs] = [...table.matchAll(/<th scope="col">([\s\S]*?)<\/th>/g)].map(([, text]) => text);
  expect([mine.includes('phone'), before, theirs?.includes('desktop')]).toEqual([true, 'Before both changes', true]);
});

test('[WEB-26] many are settled by one form; what changed after the page was shown is left alone, and so by the undo', async () => {
  const at = await clash(THEIRS, MINE);
  const { client, device, vault } = at;
  const list = `/vaults/${vault}/conflicts`;
  const other = await device.push('other.md', BASE);
  const changed = await device.push('other.md', THEIRS, { base_sha: other.sha256 });
  await device.other('phone').refusedPush('other.md', MINE, { base_sha: other.sha256 });
  await client.open(list);
  const form = () => client.forms.find(({ html }) => html.includes('name="seen"'));
  const shown = new URLSearchParams([...(form()?.fields ?? []), ['act', 'yours:']]);
  expect(shown.getAll('seen')).toHaveLength(2);
  await device.push('other.md', 'a third text', { base_sha: changed.sha256 });
  expect((await client.post(list, shown)).status).toBe(303);
  await client.open(list);
  expect(client.text).toContain('1 conflict settled. 1 changed since, and was left alone.');
  expect(await current(at)).toBe(MINE);
  const undo = client.forms.find(({ html }) => html.includes(`${list}/undo`));
  const { sha256 } = await device.result<Pushed>(
    'sync_push',
    device.pushOf(PATH, 'later', { base_sha: sha256Of(MINE) }),
  );
  await client.post(`${list}/undo`, new URLSearchParams([...(undo?.fields ?? [])]));
  await client.open(list);
  expect(client.text).toContain('0 conflicts waiting again. 1 changed since, and was left alone.');
  expect(sha256).toBe(sha256Of('later'));
  expect(await current(at)).toBe('later');
});

test('[WEB-26] the choice of one conflict is taken back: the file is what it was, and the conflict waits again', async () => {
  const at = await clash(undefined, MINE);
  await settle(at, 'yours');
  expect(await current(at)).toBe(MINE);
  await at.client.open(`/vaults/${at.vault}`);
  const undo = at.client.forms.find(({ html }) => html.includes('conflicts/undo'));
  await at.client.post(`/vaults/${at.vault}/conflicts/undo`, new URLSearchParams([...(undo?.fields ?? [])]));
  expect(await current(at)).toBe(undefined);
  await at.client.open(at.page);
  expect(at.client.answer?.status).toBe(200);
});

test.each([true, false])(
  '[WEB-26] keeping both is taken back: the second file goes, unless it was changed since (%s)',
  async (isChanged) => {
    const at = await clash(THEIRS, MINE);
    // As the page of a picture does, which has no text to edit.
    await settle(at, 'yours', { keep: 'both' });
    await at.client.open(`/vaults/${at.vault}`);
    const undo = at.client.forms.find(({ html }) => html.includes('conflicts/undo'));
    const paths = async () =>
      (await at.device.result<{ files: { path: string }[] }>('sync_list', {})).files.map(({ path }) => path);
    const copy = (await paths()).find((path) => path.includes('(conflict ')) ?? '';
    expect(copy).not.toBe('');
    if (isChanged) await at.device.push(copy, 'later', { base_sha: sha256Of(MINE) });
    await at.client.post(`/vaults/${at.vault}/conflicts/undo`, new URLSearchParams([...(undo?.fields ?? [])]));
    expect((await paths()).includes(copy)).toBe(isChanged);
    await at.client.open(at.page);
    expect([at.client.answer?.status, await current(at)]).toEqual([200, THEIRS]);
  },
);
