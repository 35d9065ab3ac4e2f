/** cairn invite: creates, lists and revokes invitations to the hub, with or without a running service. */
import { type Config, readConfig } from '../../config.ts';
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
      email: 'only this address can use it; the link is mailed there if CAIRN_SMTP_URL is set',
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
  const config = readConfig();
  const link = `${addressOf(config)}/signup?invite=${made.code}`;
  const mailed = await mailTo(email, link, made.expires_at, config);
  if (mailed === false) {
    printError('cairn: the mail server rejected the message; send the link yourself, or check CAIRN_SMTP_URL.');
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
    { ...made, link, mailed: mailed === true },
    () => `${table(rows)}

${sent}Copy the code or the link now: only a hash is stored, so it is not shown again.`,
  );
}

/**
 * Mails the link to the invited person. Resolves with whether the mail server accepted it, or undefined without a
 * recipient or a mail server.
 */
async function mailTo(
  email: string | undefined,
  link: string,
  until: string,
  { mail }: Config,
): Promise<boolean | undefined> {
  if (email === undefined || mail === undefined) return undefined;
  const { sendNow } = await import('../../mail/mailer.ts');
  const { invitationLetter } = await import('../../accounts/sign-in/letters.ts');
  return await sendNow(mail, invitationLetter(email, link, until));
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

/** Address of the hub for users, as far as the settings define it. */
function addressOf({ publicUrl, tls, host, port }: ReturnType<typeof readConfig>): string {
  if (publicUrl !== undefined) return publicUrl;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`;
}
