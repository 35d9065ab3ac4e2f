/** Which passwords are too common to be taken: those that guessing programs try first. */
import { limits } from '../../limits/service.ts';

let common: Promise<ReadonlySet<string>> | undefined;

/** Whether a password is one of the commonest, in whatever case. The list is loaded when the first one is checked. */
export async function isCommonPassword(password: string): Promise<boolean> {
  common ??= load();
  return (await common).has(password.toLowerCase());
}

/** In lower case. Shorter ones are refused for their length. */
async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const lower = dictionary['passwords-common'].map((password) => password.toLowerCase());
  return new Set(lower.filter((password) => password.length >= limits.passwordBytesMin));
}
