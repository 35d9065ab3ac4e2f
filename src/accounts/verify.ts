/** Checks the accounts' data: every index in both directions. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import {
  accessTokens,
  accounts,
  browserSessions,
  emails,
  keyHashes,
  keys,
  sessionOwners,
  tokenExpiries,
} from './records.ts';

export interface AccountsReport {
  readonly accounts: number;
  readonly keys: number;
  readonly problems: string[];
}

export interface AccountsCheck {
  /** True when a signed-in device with this id exists. */
  readonly isSignIn: (signInId: string) => boolean;
}

export function verifyAccounts(reader: CheckedReader, { isSignIn }: AccountsCheck): AccountsReport {
  const problems: string[] = [];
  let accountCount = 0;
  let keyCount = 0;
  reader.each(accounts, ({ key, value }) => {
    accountCount += 1;
    if (reader.get(emails, [value.email])?.account_id !== key[0])
      problems.push(`account ${key[0]}: its email is not indexed`);
  });
  reader.each(emails, ({ key, value }) => {
    if (reader.get(accounts, [value.account_id])?.email !== key[0])
      problems.push(`email of ${value.account_id}: account not found`);
  });
  reader.each(keys, ({ key, value }) => {
    keyCount += 1;
    const [accountId, keyId] = key;
    if (reader.get(accounts, [accountId]) === undefined) problems.push(`key ${keyId}: its account is missing`);
    const indexed = reader.get(keyHashes, [value.hash])?.key_id === keyId;
    if (indexed !== (value.revoked_at === null)) {
      problems.push(`key ${keyId}: ${indexed ? 'revoked, but still accepted' : 'active, but not accepted'}`);
    }
  });
  reader.each(keyHashes, ({ key, value }) => {
    const owner = reader.get(keys, [value.account_id, value.key_id]);
    if (owner?.hash !== key[0]) problems.push(`a key hash of ${value.account_id} belongs to no key`);
  });
  problems.push(...sessionProblems(reader));
  checkTokens(reader, isSignIn, problems);
  return { accounts: accountCount, keys: keyCount, problems };
}

function sessionProblems(reader: CheckedReader): string[] {
  const problems: string[] = [];
  reader.each(browserSessions, ({ key, value }) => {
    const { account_id: accountId } = value;
    if (reader.get(accounts, [accountId]) === undefined)
      problems.push(`a browser session of ${accountId}: account not found`);
    if (reader.get(sessionOwners, [accountId, key[0]]) === undefined)
      problems.push(`a browser session of ${accountId} is not listed`);
  });
  reader.each(sessionOwners, ({ key }) => {
    if (reader.get(browserSessions, [key[1]])?.account_id !== key[0])
      problems.push(`a listed browser session of ${key[0]} is missing`);
  });
  return problems;
}

function checkTokens(reader: CheckedReader, isSignIn: AccountsCheck['isSignIn'], problems: string[]): void {
  reader.each(accessTokens, ({ key, value }) => {
    const name = `access token ${key[0].slice(0, 16)} of ${value.account_id}`;
    if (reader.get(accounts, [value.account_id]) === undefined) problems.push(`${name}: its account is missing`);
    if (reader.get(tokenExpiries, [value.account_id, value.expires_ms, key[0]]) === undefined) {
      problems.push(`${name}: missing from the list of expiries`);
    }
    if (value.sign_in !== undefined && !isSignIn(value.sign_in)) problems.push(`${name}: its sign-in has ended`);
  });
  reader.eachKey(tokenExpiries, ([accountId, expiresMs, hash]) => {
    const token = reader.get(accessTokens, [hash]);
    if (token?.account_id !== accountId || token.expires_ms !== expiresMs) {
      problems.push(`access token ${hash.slice(0, 16)} of ${accountId}: listed as expiring, but missing`);
    }
  });
}
