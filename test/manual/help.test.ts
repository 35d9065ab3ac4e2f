/** The manual at /help: for anyone, with the address of this hub, found by words, safe from what is typed. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { topicNames } from '../../src/common/manual.ts';
import { runCairn } from '../support/hub.ts';
import { PageClient } from '../support/page-client.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
const visitor = () => new PageClient(hub);

test('[MAN-4] every topic is a page for anyone, its links lead to pages and headings that exist', async () => {
  const client = visitor();
  const files = readdirSync(new URL('../../src/manual', import.meta.url)).filter((name) => name.endsWith('.md'));
  expect(files.map((name) => name.slice(0, -3)).toSorted()).toEqual([...topicNames].toSorted());
  const pages = new Map<string, string>();
  expect((await client.open('/help')).status).toBe(200);
  for (const name of topicNames) {
    expect(client.text.length).toBeGreaterThan(0);
    const answer = await client.open(`/help/${name}`);
    expect([name, answer.status]).toEqual([name, 200]);
    pages.set(`/help/${name}`, answer.text);
    expect(answer.text).not.toContain('<!-- not run');
    expect(answer.text).not.toMatch(/\]\(|^\| /m);
  }
  for (const [path, html] of pages) {
    const links = [...html.matchAll(/href="([^"]*)"/g)]
      .map(([, href = '']) => href.replace(hub.url, ''))
      .filter((href) => /^(\/help\/|#)/.test(href));
    for (const link of links.filter((href) => href !== '#main')) {
      const [page = '', anchor] = link.split('#');
      const target = pages.get(page === '' ? path : page);
      expect([path, link, target === undefined]).toEqual([path, link, false]);
      if (anchor !== undefined) expect([link, target?.includes(`id="${anchor}"`)]).toEqual([link, true]);
    }
  }
});

test('[MAN-8] a long page lists its sections, a short one does not', async () => {
  const client = visitor();
  const listed = async (name: string) => {
    const { text } = await client.open(`/help/${name}`);
    const nav = /<nav aria-label="On this page"[\s\S]*?<\/nav>/.exec(text)?.[0] ?? '';
    const sections = [...text.matchAll(/<h2 id="([^"]+)"/g)].map(([, id]) => `#${id}`);
    return [[...nav.matchAll(/href="([^"]+)"/g)].map(([, href]) => href), sections];
  };
  const [links, sections] = await listed('operating');
  expect(links?.length).toBeGreaterThan(20);
  expect(links).toEqual(sections);
  expect((await listed('prompts'))[0]).toEqual([]);
});

test('[MAN-4] examples name the hub that shows them', async () => {
  const client = visitor();
  await client.open('/help/agents');
  expect(client.text).toContain(`${hub.url}/api/mcp`);
  expect(client.text).not.toContain('http://127.0.0.1:8787/');
  await client.open('/help/mirror');
  expect(client.text).toContain(`export CAIRN_SERVER=${hub.url}`);
});

test('[MAN-4] sections are found by words, headings first, and what is typed is only text', async () => {
  const client = visitor();
  await client.open('/help?q=master%20KEY');
  expect(client.text).toMatch(/\d+ sections contain “master KEY”/);
  const [first = ''] = /<a href="\/help\/[a-z]+#[^"]+">[^<]+/.exec(client.html) ?? [];
  expect(first).toMatch(/master key/i);
  const [, path = ''] = /href="([^"]+)"/.exec(first) ?? [];
  const [page = '', anchor = ''] = path.split('#');
  expect((await client.open(page)).text).toContain(`id="${anchor}"`);
  await client.open('/help?q=%3Cscript%3Ealert(1)%3C/script%3E');
  expect(client.text).toContain('No section contains');
  expect(client.html).not.toContain('<script>alert');
  expect((await client.open(`/help?q=${'x'.repeat(5000)}`)).status).toBe(200);
});

test('[MAN-4] a topic that does not exist is 404', async () => {
  expect((await visitor().open('/help/nothing')).status).toBe(404);
  expect((await visitor().open('/help/..%2Fsecurity')).status).toBe(404);
});

test('[MAN-5] cairn help prints a topic, a command or a setting, and guesses at a slip', async () => {
  const cairn = (...args: string[]) => runCairn(args, {});
  const list = await cairn('help');
  for (const name of topicNames) expect(list.stdout).toContain(name);
  const topic = await cairn('help', 'sync');
  expect([topic.code, topic.stdout.split('\n')[0]]).toEqual([0, '# Sync a folder']);
  expect(topic.stdout).not.toContain('<!--');
  expect((await cairn('help', 'mirror', 'push')).stdout).toMatch(/^cairn backups push /);
  expect((await cairn('help', 'CAIRN_PORT')).stdout).toBe(
    'CAIRN_PORT (default: 8787): the port to listen on; 0 selects a free one and logs it.\n',
  );
  for (const [slip, guess] of [
    ['securty', '`cairn help security`'],
    ['CAIRN_PROT', 'CAIRN_PORT'],
  ] as const) {
    const wrong = await cairn('help', slip);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(`did you mean ${guess}?`)]);
  }
});
