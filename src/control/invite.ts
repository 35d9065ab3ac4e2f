/** Creates an invitation with its link and mails it, with the settings of the process that owns the data folder. */
import { invitationLetter } from '../accounts/sign-in/letters.ts';
import type { Invitations } from '../accounts/sign-up/invitations.ts';
import type { Source } from '../audit/records.ts';
import type { Config } from '../config.ts';
import type { ImportProgress } from './importer.ts';
import type { ControlRequestOf, SentInvitation } from './protocol.ts';

/** How people reach the hub. */
export interface Reachable {
  readonly invitations: Invitations;
  /** The address of the hub for its users, without a slash at the end. */
  readonly address: () => string;
  readonly mail: Config['mail'];
}

/** Waits for the mail server, so that the operator hears whether it accepted the letter. */
export async function invite(
  { invitations, address, mail }: Reachable,
  request: ControlRequestOf<'invite.create'>,
  { tell }: Pick<ImportProgress, 'tell'>,
  by: Source,
): Promise<SentInvitation> {
  const made = await invitations.create(request, by);
  const link = `${address()}/signup?invite=${made.code}`;
  if (made.email === null || mail === undefined) return { ...made, link, mailed: null };
  // A slow mail server takes longer than the socket waits in silence.
  tell(0, 1);
  const { sendNow } = await import('../mail/mailer.ts');
  return { ...made, link, mailed: await sendNow(mail, invitationLetter(made.email, link, made.expires_at)) };
}
