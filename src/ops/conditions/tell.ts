/** Tells the operators of a hub what changed: by letter, if mail is set, and to `CAIRN_NOTIFY_URL`. */
import type { Mail } from '../../mail/mailer.ts';
import { type ConditionChange, wordsOf } from './changes.ts';
import type { Notifier } from './notifier.ts';

export interface TellOptions {
  /** How the hub is called. */
  readonly hub: string;
  readonly mail: Mail | undefined;
  readonly notifier: Pick<Notifier, 'send'> | undefined;
  /** The addresses of the operators whose accounts are enabled. */
  readonly operators: () => readonly string[];
}

/** Returns the function that tells one change. It queues letters and notices, and never throws for their sake. */
export function tellOperators({ hub, mail, notifier, operators }: TellOptions) {
  return (change: ConditionChange, isAllClear: boolean): void => {
    const { title, text, severity } = wordsOf(change, hub);
    notifier?.send({ title, text, severity, isAllClear });
    if (mail === undefined) return;
    const more = `\n\nWhat else is wrong: run \`cairn doctor\` on the machine of the hub, or open /ready.\nYou get this letter because your account is an operator of ${hub}.\n`;
    for (const to of operators()) mail.send({ to, subject: title, text: `${text}${more}` });
  };
}
