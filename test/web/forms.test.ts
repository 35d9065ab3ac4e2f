/** What a hostile page, a hostile link or a flood can do to the forms: nothing. Plain HTTP, no script. */
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { masked, unmasked } from '../../src/web/forms/token.ts';
import { ownPath } from '../../src/web/next-path.ts';
import { callTool, PASSWORD } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { startHub } from '../support/hub.ts';
import { askDevice } from '../support/oauth.ts';
import { FORM_TYPE, PageClient, signedUp } from '../support/page-client.ts';
import { seed } from '../support/seed.ts';
import { useHub } from '../support/use-hub.ts';

const COOKIE = 'cairn_session';

const hub = useHub({ loudest: 40 });
let member: PageClient;
let count = 0;

const freshEmail = () => {
  count += 1;
  return `form${count}@example.org`;
};

beforeAll(async () => {
  member = await signedUp(hub, freshEmail(), PASSWORD);
  await member.open('/tasks');
  await member.submit('/tasks', { content: 'A task to have forms for' });
});

/** Every form of the pages that changes something for a member, with what it would send. */
async function allForms(): Promise<{ action: string; fields: URLSearchParams }[]> {
  const found: { action: string; fields: URLSearchParams }[] = [];
  const { user_code: code } = await askDevice(hub);
  const boards = ['/tasks', '/tasks/1', '/tasks/categories', '/tasks/trash'];
  for (const path of ['/', '/settings', ...boards, '/documents', '/vaults', '/mirror', `/device?user_code=${code}`]) {
    await member.open(path);
    found.push(...member.forms.filter(({ html }) => html.includes('method="post"')));
  }
  return found;
}

test('[WEB-6] every form of every page carries the token of this browser, and is refused without it', async () => {
  const forms = await allForms();
  expect(forms.length).toBeGreaterThan(12);
  for (const { action, fields } of forms) {
    expect([action, fields.get('csrf')]).toEqual([action, expect.stringMatching(/^[\w-]{251}$/)]);
    expect(unmasked(fields.get('csrf') ?? '')).toMatch(/^[0-9a-f]{32}\.acc_[0-9a-f]{24}\.[0-9a-f]{32}$/);
    const stripped = new URLSearchParams(fields);
    stripped.delete('csrf');
    const answer = await member.post(action, stripped);
    expect([action, answer.status]).toEqual([action, 403]);
    expect(member.text).toContain('This form is out of date');
  }
  expect((await member.send('/settings')).status).toBe(200);
});

test('[WEB-6] the token of another session, of a visitor, and one that is almost right are refused', async () => {
  const other = await signedUp(hub, freshEmail(), PASSWORD);
  await other.open('/settings');
  const visitor = new PageClient(hub);
  await visitor.open('/signin');
  await member.open('/settings');
  const own = unmasked(member.fieldsOf('/settings/keys').get('csrf') ?? '');
  const foreign = [
    other.fieldsOf('/settings/keys').get('csrf') ?? '',
    visitor.fieldsOf('/signin').get('csrf') ?? '',
    ...[`${own.slice(0, -1)}${own.endsWith('0') ? '1' : '0'}`, `${own}0`, own.toUpperCase(), ''].map(masked),
    own,
    '',
  ];
  for (const csrf of foreign) {
    const answer = await member.post('/settings/keys', new URLSearchParams({ csrf, name: 'stolen' }));
    expect(answer.status).toBe(403);
  }
  await member.open('/settings');
  expect(member.text).not.toContain('stolen');
  await member.submit('/settings/keys', { name: 'mine' });
  expect(member.text).toContain('Key “mine” created.');
});

test('[WEB-6, WEB-15] a form that is sent twice is run once, at the same time or later, and both answers lead to the same page', async () => {
  const client = await signedUp(hub, freshEmail(), PASSWORD);
  await client.open('/vaults');
  await client.submit('/vaults', { name: 'first' });
  await client.open('/vaults');
  const vault = /\/vaults\/([\w-]+)"/.exec(client.html)?.[1] ?? '';
  const content = 'sent twice';
  const forms: [page: string, action: string, list: string, fields: Record<string, string>][] = [
    ['/tasks/categories', '/tasks/categories', '/tasks/categories', { name: content }],
    ['/settings', '/settings/keys', '/settings', { name: content }],
    ['/vaults', '/vaults', '/vaults', { name: content }],
    ['/documents/papers/new', '/documents/papers/new', '/documents/papers', { title: content, content }],
    ['/documents/docs/new', '/documents/docs/new', '/documents/docs', { title: content, group: 'docs', content }],
    [
      '/documents/handoffs/new',
      '/documents/handoffs/new',
      '/documents/handoffs',
      { title: content, group: 'a', content },
    ],
    [`/vaults/${vault}/new`, `/vaults/${vault}/save`, `/vaults/${vault}`, { path: content, content }],
    ['/tasks', '/tasks', '/tasks', { content }],
  ];
  const shownAt = async (path: string) => {
    await client.open(path);
    return client.html.match(/>sent twice</g)?.length;
  };
  for (const [page, action, list, given] of forms) {
    await client.open(page);
    const fields = client.fieldsOf(action, given);
    const sent = async () => {
      const { status, headers } = await client.post(action, fields);
      return [action, status, headers.location];
    };
    const first = await sent();
    expect(first).toEqual([action, 303, expect.any(String)]);
    const shown = await shownAt(list);
    expect([action, shown]).not.toEqual([action, undefined]);
    expect([await sent(), await sent(), await shownAt(list)]).toEqual([first, first, shown]);
  }
  await client.open('/tasks');
  const fields = client.fieldsOf('/tasks', { content: 'at once' });
  const answers = await Promise.all([1, 2, 3].map(() => client.post('/tasks', fields)));
  expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  await client.open('/tasks');
  // The same text on a page shown later is a second task.
  await client.submit('/tasks', { content });
  expect(client.html.match(/data-task=/g)).toHaveLength(3);
});

test('[WEB-6, WEB-15] a sign-up that is sent twice creates the account and signs in; a refused form can be sent again', async () => {
  const visitor = new PageClient(hub);
  await visitor.open('/signup');
  const email = freshEmail();
  const refused = visitor.fieldsOf('/signup', { email, password: 'short' });
  for (let tries = 0; tries < 2; tries += 1) expect((await visitor.post('/signup', refused)).status).toBe(422);
  const fields = visitor.fieldsOf('/signup', { email, password: PASSWORD });
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answers = await Promise.all([1, 2].map(() => visitor.post('/signup', fields, { Cookie: cookie })));
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  await visitor.open('/');
  expect(visitor.text).toContain('Account created');
});

test.each([
  ['another site', 'https://evil.example'],
  ['another port of this host', 'http://127.0.0.1:1'],
  ['a host that begins like this one', undefined],
  ['an opaque origin', 'null'],
])('[WEB-6, NET-9] a form of %s is refused, the right token or not', async (_name, origin) => {
  await member.open('/settings');
  const fields = member.fieldsOf('/settings/keys', { name: 'stolen' });
  const answer = await member.post('/settings/keys', fields, { Origin: origin ?? `${hub.url}.evil.example` });
  expect(answer.status).toBe(403);
  const visitor = new PageClient(hub);
  await visitor.open('/signin');
  const login = visitor.fieldsOf('/signin', { email: freshEmail(), password: PASSWORD });
  expect((await visitor.post('/signin', login, { Origin: origin ?? `${hub.url}.evil.example` })).status).toBe(403);
});

test('[WEB-6] an allowed origin of the API is not an origin of the pages; a public address is', async () => {
  const friendly = await startHub({
    env: {
      CAIRN_ALLOWED_ORIGINS: 'https://friend.example',
      CAIRN_PUBLIC_URL: 'http://hub.example/cairn',
      CAIRN_SIGNUP: 'open',
    },
  });
  const visitor = new PageClient(friendly);
  await visitor.open('/signup');
  const fields = visitor.fieldsOf('/signup', { email: freshEmail(), password: PASSWORD });
  expect((await visitor.post('/signup', fields, { Origin: 'https://friend.example' })).status).toBe(403);
  expect((await visitor.post('/signup', fields, { Origin: 'http://hub.example' })).status).toBe(303);
  await friendly.stop();
});

test('[WEB-6] the forms in front of an account are guarded as well', async () => {
  const email = freshEmail();
  await callTool(hub, 'signup_and_get_key', { email, password: PASSWORD });
  for (const path of ['/signin', '/signup']) {
    const visitor = new PageClient(hub);
    const bare = new URLSearchParams({ email, password: PASSWORD });
    expect((await visitor.post(path, bare)).status).toBe(403);
    await visitor.open(path);
    const fields = visitor.fieldsOf(path, { email, password: PASSWORD });
    // Another browser with this one's form: its own cookie, or none.
    const other = new PageClient(hub);
    expect((await other.post(path, fields)).status).toBe(403);
    await other.open('/signin');
    expect((await other.post(path, fields)).status).toBe(403);
  }
});

test('[WEB-6] a form of a session that ended leads to the sign-in page, and back to the page that it stood on', async () => {
  const client = await signedUp(hub, freshEmail(), PASSWORD);
  await client.open('/settings');
  const fields = client.fieldsOf('/settings/account-key');
  client.cookies.clear();
  const answer = await client.post('/settings/account-key', fields, { Referer: `${hub.url}/settings?a=1` });
  expect([answer.status, answer.headers.location]).toEqual([303, '/signin?next=%2Fsettings%3Fa%3D1']);
  await client.open('/signin');
  expect(client.text).toContain('You were signed out. Sign in and send it again.');
  const foreign = await client.post('/settings/account-key', fields, { Referer: 'https://evil.example/settings' });
  expect(foreign.headers.location).toBe('/signin');
});

test('[WEB-1, WEB-6] text that was sent after its session had ended is kept, and offered to that account alone', async () => {
  const email = freshEmail();
  const client = await signedUp(hub, email, PASSWORD);
  await client.open('/documents/papers/new');
  const text = 'One evening of work.\n</textarea><script>alert(1)</script>\n';
  const fields = client.fieldsOf('/documents/papers/new', { title: 'Kept', content: text });
  client.cookies.clear();
  const signIn = await client.post('/documents/papers/new', fields);
  expect([signIn.status, signIn.headers.location]).toEqual([303, expect.stringMatching(/^\/signin\?next=%2Fdraft%2F/)]);
  const draft = new URL(signIn.headers.location ?? '', hub.url).searchParams.get('next') ?? '';
  await client.open(signIn.headers.location ?? '');
  expect(client.text).toContain('You were signed out. Your text is kept. Sign in to send it.');
  // Neither a stranger nor another account finds it.
  expect((await new PageClient(hub).send(draft)).status).toBe(303);
  expect((await member.send(draft)).status).toBe(404);
  await client.submit('/signin', { email, password: PASSWORD });
  expect([client.path, client.answer?.status]).toEqual([draft, 200]);
  expect(client.html.match(/<script/g)).toEqual(['<script']);
  expect(client.fieldsOf('/documents/papers/new').get('content')?.replaceAll('\r\n', '\n')).toBe(text);
  await client.submit('/documents/papers/new');
  expect(client.path).toMatch(/^\/documents\/papers\/\d+$/);
  expect(client.text).toContain('One evening of work.');
});

test('[WEB-6] a form of an earlier session of the same account is shown again before it is done', async () => {
  const email = freshEmail();
  const client = await signedUp(hub, email, PASSWORD);
  await client.open('/tasks');
  const fields = client.fieldsOf('/tasks', { content: 'from another tab' });
  await client.submit('/signout');
  await client.open('/signin');
  await client.submit('/signin', { email, password: PASSWORD });
  const again = await client.post('/tasks', fields);
  expect([again.status, again.headers.location]).toEqual([303, expect.stringMatching(/^\/draft\//)]);
  await client.open('/tasks');
  expect(client.text).not.toContain('from another tab');
  await client.open(again.headers.location ?? '');
  await client.submit('/tasks');
  expect(client.text).toContain('from another tab');
});

test('[WEB-6, LIM-1] nothing is kept of a form that no page of a member made, nor of more forms than an account may have', async () => {
  const client = await signedUp(hub, freshEmail(), PASSWORD);
  await client.open('/tasks');
  const fields = client.fieldsOf('/tasks', { content: 'mine' });
  const visitor = new PageClient(hub);
  const csrf = unmasked(fields.get('csrf') ?? '');
  const [browser = '', , tag = ''] = csrf.split('.');
  for (const forged of [browser, `${browser}.acc_${'0'.repeat(24)}.${tag}`, `${browser}..${tag}`, `${csrf}.`, '']) {
    const sent = new URLSearchParams(fields);
    sent.set('csrf', masked(forged));
    expect([forged, (await visitor.post('/tasks', sent)).headers.location]).toEqual([forged, '/signin']);
  }
  expect((await visitor.post('/tasks', fields, { Origin: 'https://evil.example' })).headers.location).toBe('/signin');
  const drafts: string[] = [];
  for (let i = 0; i <= limits.draftsPerAccountMax; i += 1) {
    const { headers } = await visitor.post('/tasks', fields);
    drafts.push(new URL(headers.location ?? '', hub.url).searchParams.get('next') ?? '');
  }
  const statuses = [];
  for (const draft of drafts) statuses.push((await client.send(draft)).status);
  expect(statuses).toEqual([404, ...drafts.slice(1).map(() => 200)]);
});

const FOREIGN_PATHS = [
  'https://evil.example',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  ' //evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  'evil.example',
  '@evil.example',
  '/..//evil.example',
  '/./\\evil.example',
  '/%2e%2e//evil.example',
  `/${'a'.repeat(9000)}`,
];

test.each(FOREIGN_PATHS)('[WEB-6] a sign-in never leads to %j', async (next) => {
  const email = freshEmail();
  await callTool(hub, 'signup_and_get_key', { email, password: PASSWORD });
  const client = new PageClient(hub);
  await client.open(`/signin?next=${encodeURIComponent(next)}`);
  expect(client.fieldsOf('/signin').get('next')).toBe('/');
  const answer = await client.post('/signin', client.fieldsOf('/signin', { email, password: PASSWORD, next }));
  expect([answer.status, answer.headers.location]).toEqual([303, '/']);
  const again = await client.send(`/signin?next=${encodeURIComponent(next)}`);
  expect(again.headers.location).toBe('/');
});

test('[WEB-6] whatever `next` holds, the browser stays on this host, and an own path is kept', () => {
  const base = 'https://hub.example';
  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '%2f',
    '%5c',
    '@',
    ':',
    '?',
    '#',
    '\t',
    'a',
    'evil.example',
    '//',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((parts) => parts.join('')),
      ),
      (next) => {
        const path = ownPath(next);
        expect(new URL(path, base).origin).toBe(base);
        expect(ownPath(path)).toBe(path);
      },
    ),
    { seed, numRuns: 2000 },
  );
  expect(ownPath('/device?user_code=BCDF-GHJK')).toBe('/device?user_code=BCDF-GHJK');
});

test('[WEB-4] every page says what a browser may do with it', async () => {
  const visitor = new PageClient(hub);
  const answers = [
    await visitor.send('/'),
    await visitor.send('/signin'),
    await visitor.send('/signup'),
    await member.send('/'),
    await member.send('/settings'),
    await member.post('/settings/keys', new URLSearchParams()),
    await member.send('/settings', { method: 'HEAD' }),
  ];
  for (const { headers } of answers) {
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy.join(' ')).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    });
  }
});

test('[WEB-4] no answer may be framed: documents, refusals and files neither', async () => {
  for (const path of ['/health', '/api/account', '/api/mcp/openapi.json', '/nowhere', '/']) {
    const { headers } = await call(hub, path, { headers: { Accept: 'application/json' } });
    expect([path, headers['content-security-policy']]).toEqual([
      path,
      expect.stringContaining("frame-ancestors 'none'"),
    ]);
  }
});

test('[WEB-4] a page loads nothing but files of its own, which a browser may keep for good, and has nothing inline', async () => {
  for (const path of ['/', '/settings', '/tasks', '/mirror']) {
    await member.open(path);
    const loaded = [...member.html.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="([^"]*)"/g)].map(
      ([, to]) => to ?? '',
    );
    expect(loaded.length).toBe(3);
    expect(member.html).not.toMatch(/\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)|javascript:/);
    for (const file of loaded) {
      expect(file).toMatch(/^\/assets\/\w+\.[0-9a-f]{12}\.(css|js|svg)$/);
      const answer = await call(hub, file);
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(answer.text).not.toMatch(/url\(|@import|https?:\/\/(?!www\.w3\.org\/)/);
    }
  }
  expect((await call(hub, '/assets/style.css')).status).toBe(404);
  expect((await call(hub, '/assets/..%2f..%2fpackage.json')).status).toBe(404);
});

test('[WEB-4] markup in a name, an email or a browser’s own name is shown as text', async () => {
  const markup = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`;
  const email = `"><svg/onload=alert(3)>@example.org`;
  const client = new PageClient(hub, { 'User-Agent': `Mozilla/5.0 ${markup}` });
  await client.open('/signup');
  await client.submit('/signup', { email, name: markup, password: PASSWORD });
  expect(client.answer?.status).toBe(200);
  await client.open('/settings');
  await client.submit('/settings/keys', { name: markup });
  const pages = [client.html];
  await client.open('/settings');
  pages.push(client.html);
  await client.submit('/settings/keys', { name: `${markup}${'x'.repeat(200)}` });
  pages.push(client.html);
  await client.open('/');
  pages.push(client.html);
  for (const html of pages) {
    expect(html).toContain('&lt;');
    expect(html.match(/<script/g)).toEqual(['<script']);
    expect(html).not.toMatch(/<img|<svg\/|<svg[^>]*onload/);
  }
  expect(client.text).toContain(email);
});

test('[WEB-6, LIM-1] a flood of sign-ins from one address is a page of status 429 with Retry-After', async () => {
  const small = await startHub({
    env: { CAIRN_SIGNIN_LIMIT: '3', CAIRN_TRUSTED_PROXIES: '127.0.0.1', CAIRN_SIGNUP: 'open' },
  });
  const tries = async (email: string, from: string) => {
    const client = new PageClient(small, { 'X-Forwarded-For': from });
    await client.open('/signin');
    await client.submit('/signin', { email, password: 'wrong password' });
    return client;
  };
  for (let i = 0; i < 3; i += 1) expect((await tries(`v${i}@example.org`, '10.0.0.1')).answer?.status).toBe(422);
  const flooded = await tries('v4@example.org', '10.0.0.1');
  expect(flooded.answer?.status).toBe(429);
  expect(Number(flooded.answer?.headers['retry-after'])).toBeGreaterThan(0);
  expect(flooded.answer?.headers['content-type']).toMatch(/^text\/html/);
  expect(flooded.text).toMatch(/Too many attempts Wait \d+ s, then try again\. Your text is still in the form/);
  const signUp = new PageClient(small, { 'X-Forwarded-For': '10.0.0.1' });
  await signUp.open('/signup');
  expect((await signUp.submit('/signup', { email: freshEmail(), password: PASSWORD })).status).toBe(429);
  await small.stop();
});

test('[WEB-6, NET-2] a form is a form: no JSON, nothing too large, and a page of its own says so', async () => {
  await member.open('/settings');
  const cases = [
    [415, { headers: { 'Content-Type': 'application/json' }, body: '{}' }],
    [415, { headers: { 'Content-Type': 'multipart/form-data; boundary=x' }, body: '--x--' }],
    [413, { headers: { 'Content-Type': FORM_TYPE }, body: `a=${'b'.repeat(128 * 1024)}` }],
    [403, {}],
  ] as const;
  for (const [status, options] of cases) {
    const answer = await member.send('/settings/keys', { method: 'POST', ...options });
    expect([status, answer.headers['content-type']]).toEqual([answer.status, 'text/html; charset=utf-8']);
    // Who sent too much is still signed in.
    if (status === 413) expect(answer.text).toContain('Sign out');
  }
  expect((await member.send('/settings', { method: 'PUT' })).status).toBe(405);
  expect(member.cookies.get(COOKIE)).toBeDefined();
});

test('[WEB-1, ONB-4] where sign-up is closed the pages offer none', async () => {
  const closed = await startHub({ env: { CAIRN_SIGNUP: 'closed' } });
  const visitor = new PageClient(closed);
  await visitor.open('/');
  expect(visitor.html).not.toContain('/signup');
  await visitor.open('/signup');
  expect(visitor.text).toContain('Sign-up is closed on this hub.');
  const fields = new URLSearchParams({ email: freshEmail(), password: PASSWORD });
  fields.set('csrf', await csrfOf(visitor));
  await visitor.post('/signup', fields);
  expect(visitor.answer?.status).toBe(422);
  await closed.stop();
});

async function csrfOf(visitor: PageClient): Promise<string> {
  await visitor.open('/signin');
  return visitor.fieldsOf('/signin').get('csrf') ?? '';
}

test('[WEB-4, NET-5, MCP-4] an address with nothing behind it is a page for people, and stays JSON for programs', async () => {
  const html = { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
  for (const client of [member, new PageClient(hub)]) {
    const answer = await client.send('/taks?x=<script>', html);
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(client.text).toContain('Page not found');
  }
  expect(member.html).toContain('action="/signout"');
  for (const [path, options] of [
    ['/taks', {}],
    ['/taks', { headers: { Accept: '*/*' } }],
    ['/taks', { ...html, method: 'POST' }],
    ['/api/taks', html],
    ['/oauth/taks', html],
    ['/.well-known/openid-configuration', html],
  ] as const) {
    const answer = await call(hub, path, options);
    expect([path, answer.status, answer.json()]).toEqual([path, 404, { error: expect.any(String) }]);
  }
});
