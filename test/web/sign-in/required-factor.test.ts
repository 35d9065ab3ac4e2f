/** A hub that requires a second factor: who has none can do nothing but set one up, at each door with a password. */
import { TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import { newProof, queryOf, register } from '../../support/authorize.ts';
import { control } from '../../support/control.ts';
import { callTool, PASSWORD, post, structuredOf, toolRequest, withKey } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { PageClient, signedUp } from '../../support/page-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { withHub } from '../../support/use-hub.ts';

const SET_UP = '/settings/second-factor';
const login = (hub: Hub, email: string, code?: string) =>
  callTool(hub, 'login_and_get_key', { email, password: PASSWORD, ...(code === undefined ? {} : { code }) });

/** Turns the second factor on in a browser that is led to it. Returns the codes of its app. */
async function setUp(client: PageClient): Promise<(periods: number) => string> {
  await client.submit(SET_UP);
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(client.html)?.[1] ?? '').replaceAll(' ', '');
  const codeIn = (periods: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + periods * 30_000 });
  await client.submit(`${SET_UP}/confirm`, { code: codeIn(-1) });
  expect(client.text).toContain('Two-factor sign-in is on');
  return codeIn;
}

test('[KEY-10] required of everybody: no page, form, consent or tool serves an account without a second factor', async () => {
  const dataFolder = temporaryFolder();
  const before = await startHub({ dataFolder });
  const old = await signedUp(before, 'old@example.org', PASSWORD);
  const key = structuredOf(await login(before, 'old@example.org'))['mcp_key'];
  await before.stop();
  await withHub({ dataFolder, env: { CAIRN_REQUIRE_SECOND_FACTOR: 'everybody' } }, async (hub) => {
    // The session was made before: it goes on, and leads to the set-up alone.
    const client = new PageClient(hub);
    for (const [name, value] of old.cookies) client.cookies.set(name, value);
    const query = queryOf(await register(hub), newProof());
    for (const path of ['/', '/settings', '/device', `/oauth/authorize?${query}`]) {
      const answer = await client.send(path);
      expect([path, answer.status, answer.headers['location']]).toEqual([path, 303, SET_UP]);
    }
    await client.open('/');
    expect([client.path, client.text]).toEqual([SET_UP, expect.stringContaining('This hub requires it')]);
    const forged = client.fieldsOf(SET_UP);
    const sent = await client.post('/settings/keys', forged);
    expect([sent.status, sent.headers['location']]).toEqual([303, SET_UP]);
    const refused = await login(hub, 'old@example.org');
    expect(JSON.stringify(refused)).toContain('this hub requires two-factor sign-in');
    // A key is a second secret that a signed-in person made: it goes on.
    expect((await post(hub, toolRequest(1, 'list_tasks'), withKey(String(key)))).status).toBe(200);

    await client.open('/');
    const codeIn = await setUp(client);
    expect((await client.send('/settings')).status).toBe(200);
    expect(structuredOf(await login(hub, 'old@example.org', codeIn(0)))).toHaveProperty('mcp_key');
    await client.open('/settings');
    expect(client.text).toContain('This hub requires it.');
    expect(client.forms.map(({ action }) => action)).not.toContain(`${SET_UP}/off`);

    const fresh = new PageClient(hub);
    await fresh.open('/signup');
    await fresh.submit('/signup', { email: 'new@example.org', password: PASSWORD });
    expect([fresh.path, (await fresh.send('/settings')).headers['location']]).toEqual([SET_UP, SET_UP]);
  });
});

test('[KEY-10] required of operators: others are not asked, and who becomes one is led to it with the next page', async () => {
  await withHub({ env: { CAIRN_REQUIRE_SECOND_FACTOR: 'operators', CAIRN_SIGNUP: 'open' } }, async (hub) => {
    const first = await signedUp(hub, 'first@example.org', PASSWORD);
    const other = await signedUp(hub, 'other@example.org', PASSWORD);
    expect((await first.send('/settings')).headers['location']).toBe(SET_UP);
    expect((await other.send('/settings')).status).toBe(200);
    await control(hub, { command: 'account.operator', email: 'other@example.org', operator: true });
    expect((await other.send('/settings')).headers['location']).toBe(SET_UP);
    await other.open('/settings');
    await setUp(other);
    expect((await other.send('/settings')).status).toBe(200);
  });
});
