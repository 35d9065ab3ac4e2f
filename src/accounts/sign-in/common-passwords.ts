/** Recognizes common passwords: those tried first by guessing programs. */
import { limits } from '../../limits/service.ts';

let common: Promise<ReadonlySet<string>> | undefined;

/** True for a common password, ignoring case. The list is loaded at the first check. */
export async function isCommonPassword(password: string): Promise<boolean> {
  common ??= load();
  return (await common).has(password.toLowerCase());
}

/** In lower case. Passwords below the minimum length are left out: their length is refused first. */
async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const lower = dictionary['passwords-common'].map((password) => password.toLowerCase());
  return new Set(lower.filter((password) => password.length >= limits.passwordBytesMin));
}
