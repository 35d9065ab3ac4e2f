/** Reads the settings of mail, which only work together. */
import { StartError } from '../common/start-error.ts';

/** Where mail is sent, and as whom. */
export interface MailSetting {
  readonly url: string;
  readonly from: string;
}

/** Links in mail lead to the public address: a `Host` header of a stranger must not choose where. Throws StartError. */
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
