/** cairn invite: creates, lists and revokes invitations to the hub, with or without a running service. */
import { limits } from '../../limits/service.ts';
import { type Command, needs, type Options, takes } from '../command.ts';
import { printError, printResult, table } from '../output.ts';
import { control } from './control.ts';

export const inviteCommands: readonly Command[] = [
  {
    name: 'invite create',
    summary: 'create an invitation; prints its link once',
    options: [takes('email', 'EMAIL'), takes('uses', 'N'), takes('days', 'N')],
    explains: {
      email: 'only this address can use it; the hub mails the link there if CAIRN_SMTP_URL is set',
      uses: 'how many accounts it admits (default 1)',
      days: `how long it is valid (default ${limits.inviteDaysDefault})`,
    },
    examples: ['cairn invite create', 'cairn invite create --email ada@example.org --days 2'],
    run: create,
  },
  {
    name: 'invite list',
    summary: 'list open invitations, without their codes',
    examples: ['cairn invite list'],
    run: list,
  },
  {
    name: 'invite revoke',
    summary: 'revoke an invitation',
    options: [needs('id', 'INVITE_ID')],
    examples: ['cairn invite revoke --id invite_0123456789abcdef'],
    run: revoke,
  },
];

async function create(options: Options): Promise<number> {
  const email = options.optional('email');
  const uses = options.count('uses');
  const days = options.count('days');
  const made = await control({
    command: 'invite.create',
    ...(email === undefined ? {} : { email }),
    ...(uses === undefined ? {} : { uses }),
    ...(days === undefined ? {} : { days }),
  });
  const { link, mailed } = made;
  if (mailed === false) {
    printError('cairn: the mail server did not accept the message; send the link yourself, and check CAIRN_SMTP_URL.');
  }
  const rows = [
    ['invitation', made.invite_id],
    ['code', made.code],
    ['link', link],
    ['for', made.email ?? 'anyone with the code'],
    ['accounts', String(made.uses_left)],
    ['valid until', made.expires_at],
  ] as const;
  const sent = mailed === true ? `The link was mailed to ${email}.\n\n` : '';
  return printResult(
    options,
    { ...made, mailed: mailed === true },
    () => `${table(rows)}

${sent}Copy the code or the link now: only a hash is stored, so it is not shown again.`,
  );
}

async function list(options: Options): Promise<number> {
  const { invitations } = await control({ command: 'invite.list' });
  const lines = invitations.map(
    ({ invite_id: id, email, uses_left: left, expires_at: until }) =>
      `${id}  for ${email ?? 'anyone'}  accounts left ${left}  valid until ${until}`,
  );
  return printResult(options, { invitations }, () => lines.join('\n') || 'There are no open invitations.');
}

async function revoke(options: Options): Promise<number> {
  const revoked = await control({ command: 'invite.revoke', inviteId: options.required('id') });
  return printResult(options, revoked, () => `Invitation ${revoked.revoked} is revoked.`);
}
