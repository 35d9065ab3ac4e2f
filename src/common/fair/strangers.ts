/** Tells callers with an account from strangers, who are one caller wherever time is shared. Pure. */

/** The name of all strangers together. */
export const STRANGERS = 'strangers';

/** True for an address or a block of addresses; false for the id of an account. */
export function isNetwork(caller: string): boolean {
  return caller.includes('.') || caller.includes(':');
}
