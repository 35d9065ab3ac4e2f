/** Which passwords are too common to be taken: those that guessing programs try first. */
import { dictionary } from '@zxcvbn-ts/language-common';
import { limits } from '../../limits/service.ts';

/** In lower case. Shorter ones are refused for their length. */
const common = new Set(
  dictionary['passwords-common']
    .map((password) => password.toLowerCase())
    .filter((password) => password.length >= limits.passwordBytesMin),
);

/** Whether a password is one of the commonest, in whatever case. */
export function isCommonPassword(password: string): boolean {
  return common.has(password.toLowerCase());
}
