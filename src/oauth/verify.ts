/** Checks the data of sign-in by devices and clients: every index in both directions. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import {
  accountIdentities,
  accountSignIns,
  deviceExpiries,
  deviceGrants,
  deviceUserCodes,
  identities,
  oauthClientExpiries,
  oauthClients,
  signIns,
} from './records.ts';

export interface OAuthReport {
  readonly signIns: number;
  readonly deviceGrants: number;
  readonly identities: number;
  readonly problems: string[];
}

export interface OAuthCheck {
  readonly isAccount: (accountId: string) => boolean;
}

export function verifyOAuth(reader: CheckedReader, { isAccount }: OAuthCheck): OAuthReport {
  const problems: string[] = [];
  const grants = checkGrants(reader, isAccount, problems);
  checkClients(reader, problems);
  let signInCount = 0;
  reader.each(signIns, ({ key, value }) => {
    signInCount += 1;
    const name = `sign-in ${key[0]}`;
    if (!isAccount(value.account_id)) problems.push(`${name}: its account is missing`);
    if (reader.get(accountSignIns, [value.account_id, key[0]]) === undefined) problems.push(`${name}: is not indexed`);
    if (value.previous?.hash === value.current_hash) problems.push(`${name}: its used token is still valid`);
  });
  reader.eachKey(accountSignIns, ([accountId, signInId]) => {
    if (reader.get(signIns, [signInId])?.account_id !== accountId) {
      problems.push(`sign-in ${signInId} of ${accountId}: indexed, but missing`);
    }
  });
  return {
    signIns: signInCount,
    deviceGrants: grants,
    identities: checkIdentities(reader, isAccount, problems),
    problems,
  };
}

function checkIdentities(reader: CheckedReader, isAccount: OAuthCheck['isAccount'], problems: string[]): number {
  let count = 0;
  reader.each(accountIdentities, ({ key, value }) => {
    const [accountId, identityId] = key;
    count += 1;
    if (!isAccount(accountId)) problems.push(`identity ${identityId}: its account is missing`);
    if (reader.get(identities, [value.issuer, value.subject])?.account_id !== accountId) {
      problems.push(`identity ${identityId} of ${accountId}: listed, but not linked to the account`);
    }
  });
  let opening = 0;
  for (const _ of reader.walk(identities)) opening += 1;
  // Every listed identity is also linked, so any surplus is linked but not listed.
  if (opening > count) problems.push(`${opening - count} identities are linked to accounts that do not list them`);
  return count;
}

/** Registrations that expire are listed by that time; those of the operator never expire. */
function checkClients(reader: CheckedReader, problems: string[]): void {
  reader.each(oauthClients, ({ key, value }) => {
    const [clientId] = key;
    if (value.expires_ms === null) return;
    if (reader.get(oauthClientExpiries, [value.expires_ms, clientId]) === undefined) {
      problems.push(`client ${clientId}: missing from the list of expiries`);
    }
  });
  reader.eachKey(oauthClientExpiries, ([expiresMs, clientId]) => {
    if (reader.get(oauthClients, [clientId])?.expires_ms !== expiresMs) {
      problems.push(`client ${clientId}: listed as expiring, but missing`);
    }
  });
}

function checkGrants(reader: CheckedReader, isAccount: OAuthCheck['isAccount'], problems: string[]): number {
  let count = 0;
  reader.each(deviceGrants, ({ key, value }) => {
    count += 1;
    const name = `device grant ${key[0].slice(0, 16)}`;
    if (reader.get(deviceUserCodes, [value.user_hash])?.device_hash !== key[0]) {
      problems.push(`${name}: its user code is not indexed`);
    }
    if (reader.get(deviceExpiries, [value.expires_ms, key[0]]) === undefined)
      problems.push(`${name}: missing from the list of expiries`);
    if ((value.status === 'pending') !== (value.account_id === null)) {
      problems.push(`${name}: ${value.status}, which contradicts its account`);
    }
    if (value.account_id !== null && !isAccount(value.account_id)) problems.push(`${name}: its account is missing`);
  });
  reader.each(deviceUserCodes, ({ key, value }) => {
    if (reader.get(deviceGrants, [value.device_hash])?.user_hash !== key[0]) {
      problems.push(`a user code of device grant ${value.device_hash.slice(0, 16)} belongs to none`);
    }
  });
  reader.eachKey(deviceExpiries, ([expiresMs, deviceHash]) => {
    if (reader.get(deviceGrants, [deviceHash])?.expires_ms !== expiresMs) {
      problems.push(`device grant ${deviceHash.slice(0, 16)}: listed as expiring, but missing`);
    }
  });
  return count;
}
