/** A text that is longer than its field takes: told, and still in the form. A browser would cut it without a word. */
import { beforeAll, expect, test } from 'vitest';
import { PASSWORD } from '../support/gateway.ts';
import { FIREFOX, PageClient, signedUp } from '../support/page-client.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
/** Longer than any field of one line. */
const PASTED = 'pasted'.repeat(700);

let member: PageClient;
/** Pages by name, where a form of them needs something that is made first. */
const made = new Map<string, string>();

beforeAll(async () => {
  member = await signedUp(hub, 'pasted@example.org', PASSWORD);
  await member.open('/vaults');
  await member.submit('/vaults', { name: 'Notes' });
  const vault = /\/vaults\/v_[0-9a-f]{16}/.exec(member.html)?.[0] ?? '';
  await member.open(`${vault}/new`);
  await member.submit(`${vault}/save`, { path: 'a.md', content: 'A' });
  await member.open('/documents/papers/new');
  await member.submit('/documents/papers/new', { title: 'Paper', content: 'A' });
  await member.open('/tasks/categories');
  await member.submit('/tasks/categories', { name: 'Home' });
  await member.open('/mirror');
  await member.submit('/mirror/credential');
  made.set('VAULT', vault);
});

const filled = (path: string) => path.replace('VAULT', made.get('VAULT') ?? '');

/** Pages, the forms in them, and the field of one line that takes the least. */
const FORMS = [
  ['/tasks/categories', '/tasks/categories', 'name'],
  ['/tasks/categories', '/tasks/categories/1', 'name'],
  ['/documents/papers/new', '/documents/papers/new', 'title'],
  ['/documents/papers/1/edit', '/documents/papers/1/edit', 'title'],
  ['/documents/docs/new', '/documents/docs/new', 'title'],
  ['/vaults', '/vaults', 'name'],
  ['VAULT/new', 'VAULT/save', 'path'],
  ['VAULT', 'VAULT/name', 'name'],
  ['VAULT/file?path=a.md', 'VAULT/rename', 'to'],
  ['/settings', '/settings/keys', 'name'],
  ['/settings', '/settings/webhooks', 'url'],
  ['/settings', '/settings/timezone', 'timezone'],
  ['/mirror', '/mirror/uploaders', 'name'],
  ['/accounts', '/accounts/invitations', 'email'],
] as const;

test.each(FORMS)('[WEB-6] on %s, the form %s tells that %s is too long, and keeps it', async (path, action, field) => {
  await member.open(filled(path));
  expect(member.html).not.toMatch(/<input[^>]*maxlength/i);
  const typed = field === 'url' ? `https://example.org/${PASTED}` : PASTED;
  const answer = await member.submit(filled(action), {
    [field]: typed,
    ...(field === 'title' ? { content: 'x' } : {}),
  });
  expect([answer.status, member.text]).toEqual([422, expect.stringMatching(/at most|longer than|too long|1 to \d+/)]);
  expect(member.text).not.toContain('or null');
  expect(member.html).toContain(`value="${typed}"`);
});

test('[WEB-6] a visitor is told what is too long for a sign-up, and has it back', async () => {
  const visitor = new PageClient(hub, FIREFOX);
  for (const field of ['email', 'name'] as const) {
    await visitor.open('/signup');
    expect(visitor.html).not.toMatch(/<input[^>]*maxlength/i);
    const given = { email: 'long@example.org', password: PASSWORD, [field]: PASTED };
    const answer = await visitor.submit('/signup', given);
    expect([field, answer.status]).toEqual([field, 422]);
    expect(visitor.html).toContain(`value="${PASTED}"`);
  }
});

test.each(['/search', '/help', '/tasks', '/documents/docs', 'VAULT'])(
  '[WEB-6] %s says that it searched for a part of a text that is too long',
  async (path) => {
    await member.open(`${filled(path)}?q=${PASTED}`);
    expect(member.text).toContain('Only the first 200 characters were searched for.');
    await member.open(`${filled(path)}?q=${PASTED.slice(0, 200)}`);
    expect(member.text).not.toContain('Only the first');
  },
);
