/** Reads the mail settings, which are only valid together. */
import { StartError } from '../common/start-error.ts';

/** SMTP server and sender of all mail. */
export interface MailSetting {
  readonly url: string;
  readonly from: string;
}

/**
 * Returns the mail settings, or undefined when mail is not configured. Throws StartError when a setting is missing that
 * another needs. Links in mail use the public address: a forged `Host` header must not choose where they lead.
 */
export function mailOf(
  url: string | undefined,
  from: string | undefined,
  publicUrl: string | undefined,
): MailSetting | undefined {
  if (url === undefined) {
    if (from !== undefined) throw new StartError('CAIRN_SMTP_URL must be set together with CAIRN_MAIL_FROM.');
    return undefined;
  }
  if (publicUrl === undefined) {
    throw new StartError('CAIRN_PUBLIC_URL must be set together with CAIRN_SMTP_URL: links in mail lead there.');
  }
  return { url, from: from ?? `Cairn <cairn@${new URL(publicUrl).hostname}>` };
}
