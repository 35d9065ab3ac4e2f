/** The page that searches everything: counts, marks, advice and pages; of one account. */
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { Device } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let client: PageClient;
let key: string;
let device: Device;

beforeAll(async () => {
  client = await signedUp(hub, 'search@example.org', PASSWORD);
  key = /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '';
  device = new Device(hub, key, 'laptop');
  await structured(hub, 'create_task', { content: 'Order SEEDLINGS for spring' }, key);
  await device.push('garden/Seedlings.md', 'nothing of note');
  await device.push('notes/plan.md', 'first line\nsow the seedlings & <b>water</b> them\nlast line');
  await device.push('notes/other.md', 'something else');
});

test('[WEB-11] a text is found in tasks, in paths and in files, whatever its case, and shown as text', async () => {
  await client.open('/search?q=seedLINGS');
  expect(client.text).toContain('Order SEEDLINGS for spring');
  expect(client.text).toContain('garden/Seedlings.md');
  expect(client.html).toContain('>2</a>: <bdi>sow the <mark>seedlings</mark>');
  expect(client.text).toContain('All 3');
  expect(client.text).toContain('Files 2');
  expect(client.text).toContain('sow the seedlings & <b>water</b> them');
  expect(client.text).not.toContain('notes/other.md');
  expect(client.html).toContain('path=notes%2Fplan.md');
  // `İ` is two characters in lower case: the excerpt is found by its own place all the same.
  await device.push('notes/city.md', `${'İ'.repeat(200)} the last tram ${'x'.repeat(400)}`);
  await client.open('/search?q=last+tram');
  expect(client.text).toContain('the last tram');
});

test('[WEB-11] a word is marked as the text has it, also where it is longer or shorter than what was typed', async () => {
  await device.push('notes/street.md', 'In der Hauptstraße am See, office ﬁle');
  await client.open('/search?q=hauptstrasse');
  expect(client.html).toContain('<mark>Hauptstraße</mark> am See');
  await client.open('/search?q=file+see');
  expect(client.html).toContain('am <mark>See</mark>, office <mark>ﬁle</mark>');
});

test('[WEB-11, FIND-4] what a hyphen leaves out is told', async () => {
  await device.push('notes/shell.md', 'rm -rf build');
  await device.push('notes/paper.md', 'rm of paper');
  await client.open('/search?q=rm+-rf');
  expect(client.text).toContain('paper.md');
  expect(client.text).not.toContain('shell.md');
  expect(client.text).toContain('What has “rf” is left out, by the hyphen. To find it, put it in quotes.');
  await client.open('/search?q=rm+%22-rf%22');
  expect(client.text).toContain('shell.md');
  expect(client.text).not.toContain('left out');
  await client.open('/search?q=-rf');
  expect(client.text).toContain('The search says only what to leave out; add a word to find');
});

test('[WEB-11, WEB-15] dev docs, handoffs and papers are found by their names and by their text', async () => {
  const content = 'first\nthe MARIGOLD <i>line</i>\nlast';
  await structured(hub, 'create_dev_doc', { title: 'Beds', content, category: 'docs' }, key);
  await structured(hub, 'handoff_save', { project: 'garden', topic: 'spring', content }, key);
  await structured(hub, 'create_paper', { title: 'On marigolds', content: 'x' }, key);
  await structured(hub, 'create_paper', { title: 'Another', content: 'x' }, key);
  await client.open('/search?q=marigold');
  const paths = [...client.html.matchAll(/href="(\/documents\/\w+\/\d+)"/g)].map(([, path]) => path);
  expect(new Set(paths)).toEqual(new Set(['/documents/docs/1', '/documents/handoffs/1', '/documents/papers/1']));
  expect(client.text).toContain('the MARIGOLD <i>line</i>');
});

test('[WEB-11] what is deleted, binary, or another account’s is not found; nothing found is said', async () => {
  const { sha256 } = await device.push('gone.md', 'unseedly');
  await device.result('sync_push', device.deleteOf('gone.md', { base_sha: sha256 }));
  await client.open('/search?q=unseedly');
  expect(client.text).toContain('Nothing found');
  const other = await signedUp(hub, 'stranger@example.org', PASSWORD);
  await other.open('/search?q=seedlings');
  expect(other.text).toContain('Nothing found');
  await client.open('/search?q=no-such-word-anywhere');
  expect(client.text).toContain('Nothing found');
  await client.open('/search?q=%00%ff');
  expect(client.answer?.status).toBe(200);
});

test('[WEB-11] advice is right: the word that nothing has, the kind that hides results, words that never meet', async () => {
  await client.open('/search?q=seedlings+zzqqx');
  expect(client.text).toContain(
    'Nothing has “zzqqx”: tasks, documents, files and names of backups were searched. Check the spelling, or leave it out.',
  );
  await client.open('/search?q=seedlings&in=paper');
  expect(client.text).toContain('There is nothing among the papers, but 3 elsewhere: search every kind.');
  await client.open('/search?q=spring+water');
  expect(client.text).toContain('nothing has all of them');
});

test('[WEB-11] every result is reached by cursor and once, also when the account changes between the pages', async () => {
  const files = limits.searchRows + 5;
  for (let made = 0; made < files; made += 1) await device.push(`many/file-${made}.md`, 'text');
  await client.open('/search?q=many+file&in=file');
  const pathsOf = (html: string) => [...html.matchAll(/path=(many%2F[^"&]*)/g)].map(([, path]) => path);
  const first = pathsOf(client.html);
  const [, next = ''] = /href="([^"]*cursor=[^"]*)"/.exec(client.html) ?? [];
  await device.push('many/new-file.md', 'many files');
  await client.open(next.replaceAll('&amp;', '&'));
  expect(first.length).toBe(limits.searchRows);
  expect(new Set([...first, ...pathsOf(client.html)]).size).toBe(files);
  expect(client.html).not.toContain('cursor=');
  await client.open('/search?q=many&cursor=x');
  expect(client.answer?.status).toBe(422);
});
