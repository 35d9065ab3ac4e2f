/** Operator commands in a shell without the settings of the hub, as beside a service whose settings only root can read. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let hub: Hub | undefined;
afterEach(() => hub?.kill());

interface Invited {
  readonly link: string;
  readonly mailed: boolean;
}

/** Runs `cairn invite create` with no setting but the data folder. */
async function invite(dataFolder: string, ...args: string[]): Promise<Invited> {
  const { code, stdout, stderr } = await runCairn(['invite', 'create', '--json', ...args], { CAIRN_DATA: dataFolder });
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Invited;
}

test('[OPS-30] an invitation has the public address of the running hub, and the hub mails it', async () => {
  const mailedTo: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, done) {
      mailedTo.push(address);
      done();
    },
    onData(stream, _session, done) {
      stream.resume().on('end', () => done());
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  hub = await startHub({
    env: { CAIRN_PUBLIC_URL: 'https://hub.example.org', CAIRN_SMTP_URL: `smtp://127.0.0.1:${port}` },
  });
  const invited = await invite(hub.dataFolder, '--email', 'ada@example.org');
  expect(invited.link).toMatch(/^https:\/\/hub\.example\.org\/signup\?invite=/);
  expect([invited.mailed, mailedTo]).toEqual([true, ['ada@example.org']]);
  server.close();
  await once(server, 'close');
  // The mail server is gone: the invitation stays, and the operator is told to send the link.
  const args = ['invite', 'create', '--email', 'bob@example.org'];
  const alone = await runCairn(args, { CAIRN_DATA: hub.dataFolder });
  expect(alone.code).toBe(0);
  expect(alone.stdout).toContain('https://hub.example.org/signup?invite=');
  expect(alone.stderr).toContain('did not accept the message');
});

test('[OPS-30] without a public address, the link has the port on which the hub listens', async () => {
  hub = await startHub();
  expect((await invite(hub.dataFolder)).link).toContain(`http://127.0.0.1:${hub.port}/signup?invite=`);
});

test('[OPS-30] a variable that is not a setting does not stop an operator command, and a misspelled setting does', async () => {
  hub = await startHub();
  const { dataFolder: CAIRN_DATA } = hub;
  const foreign = await runCairn(['account', 'list', '--json'], { CAIRN_DATA, CAIRN_PROMPT_COLOR: 'blue' });
  expect(foreign).toMatchObject({ code: 0, stderr: 'cairn: CAIRN_PROMPT_COLOR is not a setting and is ignored.\n' });
  const misspelled = await runCairn(['account', 'list'], { CAIRN_DATA, CAIRN_PROT: '1' });
  expect(misspelled).toMatchObject({ code: 1, stdout: '' });
  expect(misspelled.stderr).toContain('CAIRN_PROT is not a setting; did you mean CAIRN_PORT');
  const served = await runCairn(['serve'], { CAIRN_DATA: temporaryFolder(), CAIRN_PROMPT_COLOR: 'blue' });
  expect(served.stderr).toContain('CAIRN_PROMPT_COLOR is not a setting');
  expect(served.code).toBe(1);
});
