/** Composes the mail about sign-in and sign-up. Plain text; names of programs are shown, links of others never. */
import type { RemoteSource } from '../../audit/records.ts';
import type { Letter, Mail } from '../../mail/mailer.ts';

/** Sends mail to account owners; without a mail server nothing is sent. */
export class SignInLetters {
  readonly #mail: Mail | undefined;
  readonly #url: string;
  readonly #now: () => number;

  constructor(mail: Mail | undefined, url: string, now: () => number) {
    this.#mail = mail;
    this.#url = url;
    this.#now = now;
  }

  /** True when a mail server is configured. */
  get areSent(): boolean {
    return this.#mail !== undefined;
  }

  /** Reports a sign-in from a new browser or device; `what` names it. */
  newSignIn(email: string, what: string, source: RemoteSource): void {
    this.#mail?.send(newSignIn(email, what, source, this.#url, new Date(this.#now()).toISOString()));
  }

  /** Sends the link of an invitation. */
  invitation(email: string, link: string, until: string): void {
    this.#mail?.send(invitationLetter(email, link, until));
  }

  /** Sends the link for a password reset. */
  passwordReset(email: string, token: string, minutes: number): void {
    this.#mail?.send({
      to: email,
      subject: 'Reset your Cairn password',
      text: `Somebody asked to reset the password of your account on ${this.#url}.

To choose a new password, open this link within ${minutes} minutes. It works once:

${this.#url}/reset?token=${token}

If it was not you, ignore this message. Your password has not changed.
`,
    });
  }
}

/** Composes an invitation, valid until an ISO 8601 time. */
export function invitationLetter(to: string, link: string, until: string): Letter {
  return {
    to,
    subject: 'Your invitation to a Cairn hub',
    text: `You are invited to create an account on ${new URL(link).origin}.

Open this link before ${until}:

${link}

If you do not know what this is about, ignore this message.
`,
  };
}

function newSignIn(to: string, what: string, { address, agent }: RemoteSource, url: string, at: string): Letter {
  return {
    to,
    subject: 'New sign-in to your Cairn account',
    text: `${what} signed in to your account on ${url}.

Time: ${at}
Address: ${address}
Program: ${agent ?? 'unknown'}

If it was you, there is nothing to do. If not, change your password and revoke what you do not know:

${url}/settings
`,
  };
}
