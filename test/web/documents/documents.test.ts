/** The pages of documents, with a browser without script: listed, read, written, changed, published, deleted, restored. */
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { FIREFOX, type PageClient, signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });
let count = 0;

async function member(): Promise<{ client: PageClient; key: string }> {
  count += 1;
  const client = await signedUp(hub, `reader${count}@example.org`, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  return { client, key };
}

const titles = ({ html }: PageClient) =>
  [...html.matchAll(/<a class="row-name"[^>]*><bdi class="given">(.*?)<\/bdi>/g)].map(([, title]) => title);

test('[WEB-15] each kind says what it is for while it is empty', async () => {
  const { client } = await member();
  await client.open('/documents');
  expect([client.path, client.text]).toEqual(['/documents/docs', expect.stringContaining('No dev docs yet')]);
  for (const [kind, says] of [
    ['handoffs', 'No handoffs yet'],
    ['papers', 'No papers yet'],
  ] as const) {
    await client.open(`/documents/${kind}`);
    expect(client.text).toContain(says);
  }
});

test('[WEB-15] a dev doc is written, found, changed, brought back to an older version, deleted and restored', async () => {
  const { client, key } = await member();
  await client.open('/documents/docs/new');
  await client.submit('/documents/docs/new', { title: 'Rules', group: 'claude', content: '# Be brief\n\n**Always**' });
  const page = client.path;
  expect(client.html).toContain('<h2 id="h-be-brief">Be brief</h2>');
  await structured(
    hub,
    'create_dev_doc',
    { title: 'config', content: '{"a": 1}', category: 'mcp', content_type: 'json' },
    key,
  );
  await client.open('/documents/docs');
  expect(titles(client)).toEqual(['config', 'Rules']);
  await client.open('/documents/docs?group=claude');
  expect(titles(client)).toEqual(['Rules']);
  await client.open('/documents/docs?q=brief');
  expect(titles(client)).toEqual(['Rules']);
  await client.open('/documents/docs?group=unknown');
  expect(client.text).toContain('Nothing found.');
  await client.open(`${page}/edit`);
  await client.submit(`${page}/edit`, { content: 'second' });
  expect(client.text).toContain('version 2');
  await client.open(`${page}?version=1`);
  expect(client.text).toContain('version 1 of 2');
  await client.submit(`${page}/revert`);
  expect([client.text, client.html]).toEqual([
    expect.stringContaining('version 3'),
    expect.stringContaining('Be brief'),
  ]);
  await client.submit(`${page}/delete`);
  expect(titles(client)).toEqual(['config']);
  await client.submit(`${page}/restore`);
  expect(client.text).toContain('The dev doc was restored.');
});

test('[WEB-15] a document that was changed elsewhere is not overwritten unseen, and what was typed is kept', async () => {
  const { client, key } = await member();
  for (const [kind, fields, change] of [
    [
      'docs',
      { title: 'A', group: 'docs' },
      () => structured(hub, 'update_dev_doc', { title: 'A', content: 'agent' }, key),
    ],
    [
      'handoffs',
      { title: 'main', group: 'cairn' },
      () => structured(hub, 'handoff_save', { project: 'cairn', topic: 'main', content: 'agent' }, key),
    ],
    ['papers', { title: 'P' }, () => structured(hub, 'update_paper', { id: 1, content: 'agent' }, key)],
  ] as const) {
    await client.open(`/documents/${kind}/new`);
    await client.submit(`/documents/${kind}/new`, { ...fields, content: 'first' });
    const page = client.path;
    await client.open(`${page}/edit`);
    const mine = client.fieldsOf(`${page}/edit`, { content: 'mine' });
    await change();
    const answer = await client.post(`${page}/edit`, mine);
    expect([kind, answer.status, client.text]).toEqual([kind, 422, expect.stringContaining('was changed elsewhere')]);
    expect(client.fieldsOf(`${page}/edit`).get('content')).toBe('mine');
    await client.submit(`${page}/edit`);
    expect([kind, client.text]).toEqual([kind, expect.stringContaining('mine')]);
  }
});

test('[WEB-15] of more projects than a page shows, the ones written last come first and the rest follow', async () => {
  const { client, key } = await member();
  const projects = limits.documentRowsPerPage + 3;
  for (let n = 0; n < projects; n++) {
    // The newest have the first names.
    const name = `p${String(projects - n).padStart(3, '0')}`;
    await structured(
      hub,
      'handoff_save',
      { project: name, topic: name, content: 'x', time: '0000', date: day(n) },
      key,
    );
  }
  await client.open('/documents/handoffs');
  expect(titles(client).slice(0, 2)).toEqual(['p001', 'p002']);
  const [next = ''] = /\/documents\/handoffs\?cursor=[^"]+/.exec(client.html) ?? [];
  const first = titles(client);
  await client.open(next);
  expect([first.length, titles(client)]).toEqual([limits.documentRowsPerPage, ['p051', 'p052', 'p053']]);
});

function day(n: number): string {
  return new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10);
}

test('[WEB-15] handoffs show the newest of each project, then those of one project', async () => {
  const { client, key } = await member();
  const save = (project: string, topic: string, date: string) =>
    structured(hub, 'handoff_save', { project, topic, date, content: `# ${topic}` }, key);
  await save('old', 'a', '2026-01-01');
  await save('cairn', 'b', '2026-02-01');
  await save('cairn', 'c', '2026-03-01');
  await save('Zoo', 'd', '2026-02-15');
  await client.open('/documents/handoffs');
  expect(titles(client)).toEqual(['c', 'd', 'a']);
  await client.open('/documents/handoffs?group=cairn');
  expect(titles(client)).toEqual(['c', 'b']);
});

test('[WEB-15] a paper is a draft until it is published', async () => {
  const { client } = await member();
  await client.open('/documents/papers/new');
  await client.submit('/documents/papers/new', { title: 'On stones', content: 'text' });
  const page = client.path;
  expect(client.text).toContain('Draft, version 1');
  await client.submit(`${page}/publish`);
  expect(client.text).toContain('Published, version 1');
  await client.open('/documents/papers?group=published');
  expect(titles(client)).toEqual(['On stones']);
  await client.open('/documents/papers?group=draft');
  expect(titles(client)).toEqual([]);
});

test('[WEB-15, KEY-8] what was deleted stands in the trash, by whoever it was deleted, and is restored there', async () => {
  const { client, key } = await member();
  await client.open('/documents/trash');
  expect(client.text).toContain('The trash is empty');
  await structured(hub, 'create_dev_doc', { title: 'Old <b>rules</b>', content: 'x', category: 'docs' }, key);
  await structured(hub, 'create_paper', { title: 'Old paper', content: 'x' }, key);
  await structured(hub, 'create_paper', { title: 'Kept paper', content: 'x' }, key);
  await structured(hub, 'delete_dev_doc', { id: 1 }, key);
  await client.open('/documents/papers/1');
  await client.submit('/documents/papers/1/delete');
  await client.open('/documents/docs');
  expect(client.html).toContain('href="/documents/trash"');
  await client.open('/documents/trash');
  expect(client.text).toMatch(/Old paper paper Deleted just now.*Old <b>rules<\/b> dev doc Deleted just now/);
  expect(client.text).not.toContain('Kept paper');
  await client.submit('/documents/docs/1/restore');
  expect([client.path, client.text]).toEqual([
    '/documents/docs/1',
    expect.stringContaining('The dev doc was restored.'),
  ]);
  await client.open('/documents/trash');
  expect(client.text).not.toContain('Old <b>rules</b>');
  const { client: other } = await member();
  await other.open('/documents/trash');
  expect(other.text).toContain('The trash is empty');
});

interface Named {
  readonly changed_by?: string;
}

test('[WEB-15, DOC-1, HAND-1, PAPER-1] a document, its versions, the trash and the activity name who made a change', async () => {
  const { client, key } = await member();
  const browser = 'Firefox on Linux';
  const tool = <T>(name: string, args: object) => structured<T>(hub, name, args, key);
  const { doc } = await tool<{ doc: Named }>('create_dev_doc', { title: 'Rules', content: 'one' });
  await tool('handoff_save', { project: 'cairn', topic: 'main', content: 'one' });
  await tool('create_paper', { title: 'On stones', content: 'one' });
  const { changed_by: agent = '' } = doc;
  await client.open('/settings');
  expect([agent === '', client.text]).toEqual([false, expect.stringContaining(agent)]);
  for (const kind of ['docs', 'handoffs', 'papers']) {
    const page = `/documents/${kind}/1`;
    await client.open(page);
    expect([kind, client.text]).toEqual([kind, expect.stringContaining(`version 1, just now by ${agent}`)]);
    await client.open(`/documents/${kind}`);
    expect([kind, client.text]).toEqual([kind, expect.stringContaining(`just now by ${agent}`)]);
    await client.open(`${page}/edit`);
    await client.submit(`${page}/edit`, { content: 'two' }, FIREFOX);
    expect([kind, client.text]).toEqual([kind, expect.stringContaining(`version 2, just now by ${browser}`)]);
    if (kind !== 'papers') expect([kind, client.text]).toEqual([kind, expect.stringContaining(`just now by ${agent}`)]);
    await client.open(`${page}?version=1`);
    if (kind !== 'papers') expect(client.text).toContain(`version 1 of 2, just now by ${agent}`);
  }
  for (const [name, args] of [
    ['get_dev_doc', { id: 1 }],
    ['handoff_get', { project: 'cairn', topic: 'main' }],
  ] as const) {
    type Read = { readonly versions: readonly Named[] } & Readonly<Record<'doc' | 'handoff', Named | undefined>>;
    const now = await tool<Read>(name, { ...args, include_versions: true });
    const first = await tool<Read>(name, { ...args, version: 1 });
    const names = [now, first].map((read) => (read.doc ?? read.handoff)?.changed_by);
    expect([name, ...names]).toEqual([name, browser, agent]);
    expect([name, ...now.versions.map((one) => one.changed_by)]).toEqual([name, browser, agent]);
  }
  const same = await tool<{ doc: Named }>('update_dev_doc', { id: 1, content: 'two' });
  expect(same.doc.changed_by).toBe(browser);
  const published = await tool<{ paper: Named }>('publish_paper', { id: 1 });
  expect(published.paper.changed_by).toBe(agent);
  for (const [by, ...changed] of [
    [browser, 'handoff cairn: main', 'dev doc Rules'],
    [agent, 'paper On stones'],
  ]) {
    await client.open(`/activity?by=${encodeURIComponent(by ?? '')}`);
    for (const one of changed) expect(client.text, by).toContain(one);
  }
  await client.open('/documents/docs/1');
  await client.submit('/documents/docs/1/delete', {}, FIREFOX);
  await tool('delete_paper', { id: 1 });
  await client.open('/documents/trash');
  expect(client.text).toContain(`dev doc Deleted just now by ${browser} .`);
  expect(client.text).toContain(`paper Deleted just now by ${agent} .`);
  await client.open(`/activity?by=${encodeURIComponent(browser)}`);
  expect(client.text).toContain('Deleted dev doc Rules');
  await tool('update_dev_doc', { id: 1, restore: true });
  await client.open(`/activity?by=${encodeURIComponent(agent)}`);
  expect(client.text).toContain('Restored dev doc Rules');
});

test('[WEB-15] what is wrong with a document is told in its form', async () => {
  const { client } = await member();
  for (const [kind, fields, says] of [
    ['docs', { title: '', group: 'docs', content: 'x' }, 'Title must'],
    ['docs', { title: 'x', group: '', content: 'x' }, 'Category must'],
    ['handoffs', { title: 'x', group: '', content: 'x' }, 'project must'],
    ['handoffs', { title: 'x', group: 'x', content: '' }, 'Content must'],
    ['papers', { title: ' ', content: 'x' }, 'Title must'],
    ['papers', { title: 'x', content: 'x'.repeat(limits.documentBytesMax + 1) }, 'Content'],
  ] as const) {
    await client.open(`/documents/${kind}/new`);
    const answer = await client.submit(`/documents/${kind}/new`, fields);
    expect([kind, fields.title, answer.status]).toEqual([kind, fields.title, 422]);
    expect(client.text.toLowerCase()).toContain(says.toLowerCase());
  }
});

test('[WEB-15, WEB-9] the page of what is in the trash says so and leads there, to its owner only', async () => {
  const { client, key } = await member();
  const { client: other } = await member();
  const make = <T>(name: string, args: object) => structured<T>(hub, name, args, key);
  const { doc } = await make<{ doc: { id: number } }>('create_dev_doc', {
    title: 'Old',
    category: 'docs',
    content: 'x',
  });
  const { paper } = await make<{ paper: { id: number } }>('create_paper', { title: 'Old', content: 'x' });
  const { task } = await make<{ task: { id: number } }>('create_task', { content: 'Old' });
  for (const [id, tool, page, trash] of [
    [doc.id, 'delete_dev_doc', '/documents/docs/', '/documents/trash'],
    [paper.id, 'delete_paper', '/documents/papers/', '/documents/trash'],
    [task.id, 'delete_task', '/tasks/', '/tasks/trash'],
  ] as const) {
    await make(tool, { id });
    expect((await client.open(page + id)).status).toBe(404);
    expect(client.html).toContain(`It is in the <a href="${trash}">trash</a>`);
    await client.open(trash);
    expect(client.text).toContain('Old');
    for (const [who, path] of [
      [client, `${page}999`],
      [other, page + id],
    ] as const) {
      expect((await who.open(path)).status).toBe(404);
      expect(who.text).not.toContain('trash');
    }
  }
});

test('[WEB-15, KEY-8, WEB-4] a document of another account is not found, and markup of an attacker is text', async () => {
  const { client, key } = await member();
  const evil = '<img src=x onerror=alert(1)>';
  await structured(
    hub,
    'create_dev_doc',
    { title: evil, content: `${evil}\n\n[x](javascript:alert(1))`, category: 'docs' },
    key,
  );
  await structured(hub, 'handoff_save', { project: evil, topic: evil, content: evil }, key);
  await structured(hub, 'create_paper', { title: evil, content: evil }, key);
  for (const path of [
    'docs',
    'docs/1',
    'docs/1/edit',
    'handoffs',
    'handoffs/1',
    'papers',
    'papers/1',
    'papers/1/edit',
  ]) {
    await client.open(`/documents/${path}`);
    expect([path, /<img|href="javascript/.test(client.html), client.answer?.status]).toEqual([path, false, 200]);
  }
  const { client: other } = await member();
  for (const path of ['docs/1', 'handoffs/1', 'papers/1', 'docs/1/edit', 'docs/x', 'docs/0']) {
    expect([path, (await other.open(`/documents/${path}`)).status]).toEqual([path, 404]);
  }
});
