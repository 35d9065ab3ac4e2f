/** What is written to people about signing in and up. Plain text; names of programs are shown, never links of others. */
import type { RemoteSource } from '../../audit/records.ts';
import type { Letter, Mail } from '../../mail/mailer.ts';

/** Letters to owners; without a mail server there are none. */
export class SignInLetters {
  readonly #mail: Mail | undefined;
  readonly #url: string;
  readonly #now: () => number;

  constructor(mail: Mail | undefined, url: string, now: () => number) {
    this.#mail = mail;
    this.#url = url;
    this.#now = now;
  }

  /** Whether there is a mail server. */
  get areSent(): boolean {
    return this.#mail !== undefined;
  }

  /** Somebody signed in with a browser or device that was not seen before. `what` names it. */
  newSignIn(email: string, what: string, source: RemoteSource): void {
    this.#mail?.send(newSignIn(email, what, source, this.#url, new Date(this.#now()).toISOString()));
  }

  /** The link of an invitation. */
  invitation(email: string, link: string, until: string): void {
    this.#mail?.send(invitationLetter(email, link, until));
  }

  /** The way to a new password. */
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

/** The letter to somebody who is invited, until a time in ISO 8601. */
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
