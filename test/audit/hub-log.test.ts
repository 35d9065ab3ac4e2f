/** The hub's own log: what operators did, which accounts came and went, which settings changed; it outlives accounts. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import type { HubEvent } from '../../src/audit/log.ts';
import { PASSWORD } from '../support/gateway.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { untilState, whichServes } from '../support/members.ts';
import { signedUp } from '../support/page-client.ts';
import { useMembers } from '../support/use-members.ts';

const { member, served } = useMembers();

async function eventsOf(hub: Hub): Promise<HubEvent[]> {
  const { stdout } = await hub.cli('audit', '--json');
  return (JSON.parse(stdout) as { events: HubEvent[] }).events;
}

const shown = (events: readonly HubEvent[]) =>
  events.map(({ act, email, by, who, detail }) => [act, email, by, who ?? null, detail]);

test('[AUD-2] who did what to which account is known after the account is deleted, also across a restart', async () => {
  const user = userInfo().username;
  const hub = await startHub();
  const operator = await signedUp(hub, 'operator@example.org', PASSWORD);
  await signedUp(hub, 'person@example.org', PASSWORD);
  await hub.cli('account', 'operator', '--email', 'operator@example.org');
  await hub.cli('account', 'disable', '--email', 'person@example.org');
  const { stdout } = await hub.cli('account', 'show', '--email', 'person@example.org', '--json');
  const { account_id: id } = JSON.parse(stdout) as { account_id: string };
  await operator.open(`/accounts/${id}`);
  await operator.submit(`/accounts/${id}/delete`, { confirm: 'person@example.org' });
  const { stdout: made } = await hub.cli('invite', 'create', '--json');
  const { invite_id: invitation, code } = JSON.parse(made) as { invite_id: string; code: string };

  const line = await hub.waitForLog(({ event }) => event === 'account_deleted');
  expect(line).toMatchObject({ level: 30, account_id: id, by: 'operator', who: 'operator@example.org' });
  await hub.waitForLog(({ msg }) => msg === 'a deleted account is removed with all its data');
  await hub.stop();

  const env = { CAIRN_SIGNUP: 'closed', CAIRN_METRICS_TOKEN: 'a-secret-of-metrics' };
  const again = await startHub({ dataFolder: hub.dataFolder, env });
  const events = await eventsOf(again);
  const person = 'person@example.org';
  expect(shown(events)).toEqual([
    ['settings_changed', null, 'operator', null, 'CAIRN_SIGNUP set to closed'],
    ['settings_changed', null, 'operator', null, 'CAIRN_METRICS_TOKEN set to a secret'],
    ['invitation_created', null, 'operator', user, invitation],
    ['account_deleted', person, 'operator', 'operator@example.org', null],
    ['account_disabled', person, 'operator', user, null],
    ['account_created', person, expect.any(String), null, null],
    ['account_created', 'operator@example.org', expect.any(String), null, null],
  ]);
  // Who deleted from where is told of an operator, and of nobody else.
  expect(events.find(({ act }) => act === 'account_deleted')).toMatchObject({ address: '127.0.0.1', account_id: id });
  expect(events.filter(({ act, address }) => act === 'account_created' && address !== null)).toEqual([]);
  const text = await again.cli('audit');
  expect(text.stdout).toContain('Account deleted person@example.org  [operator, operator@example.org, 127.0.0.1');
  for (const secret of [code, PASSWORD, 'a-secret-of-metrics']) expect(JSON.stringify(events)).not.toContain(secret);
  expect(JSON.parse((await again.cli('verify', '--json')).stdout)).toMatchObject({ ok: true });
  await again.stop();
});

test('[AUD-2, MEMBER-3] that another member serves is no change of a setting; one in which the members differ is told', {
  timeout: 240_000,
}, async () => {
  const { log, owner } = await served();
  const other = await member({ name: 'east', log, env: { CAIRN_SIGNUP: 'closed' } });
  await untilState(other, 'following');
  expect((await owner.cli('member', 'hand-over')).code).toBe(0);
  await whichServes([other]);
  expect(shown(await eventsOf(other))).toEqual([
    ['settings_changed', null, 'operator', null, 'CAIRN_SIGNUP set to closed'],
  ]);
});
