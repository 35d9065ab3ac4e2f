/** cairn login, logout: signs this machine in to a hub and out again. A person approves the sign-in in any browser. */

import { hostname } from 'node:os';
import { ClientError } from '../../client/client-error.ts';
import { readClientSettings } from '../../client/settings.ts';
import { CredentialFile, type StoredLogin } from '../../client/sign-in/credential-file.ts';
import { chooseServer, withTokens } from '../../client/sign-in/credentials.ts';
import { signInDevice } from '../../client/sign-in/device-login.ts';
import { type DeviceCodes, revokeToken } from '../../client/sign-in/oauth.ts';
import { limits } from '../../limits/service.ts';
import { type Command, type Options, takes } from '../command.ts';
import { print, printError, printResult } from '../output.ts';

export const loginCommand: Command = {
  name: 'login',
  summary: 'sign this machine in: shows a code to approve in any browser',
  options: [takes('server', 'URL'), takes('name', 'DEVICE')],
  explains: { name: 'what the hub calls this machine; default: its host name' },
  examples: ['cairn login --server https://cairn.example.org', 'cairn login --name build-7'],
  run: login,
};

export const logoutCommand: Command = {
  name: 'logout',
  summary: 'sign this machine out and revoke its tokens and key',
  options: [takes('server', 'URL')],
  flags: ['local'],
  explains: { local: 'forget the sign-in here without asking the hub, which keeps it valid' },
  examples: ['cairn logout', 'cairn logout --local'],
  run: logout,
};

async function login(options: Options): Promise<number> {
  const settings = readClientSettings();
  const file = new CredentialFile(settings.credentialFile);
  const server = chooseServer(settings, options.optional('server'));
  const deviceName = (options.optional('name') ?? hostname()).slice(0, limits.deviceNameCharsMax);
  // Checks that the file is writable before sending the user to a browser.
  await file.change(server, (before) => before);
  const say = options.json ? printError : print;
  const answer = await signInDevice(server, deviceName, (codes) => say(instructions(server, codes)));
  const fresh = withTokens({ mcp_key: answer.mcp_key ?? null, device_name: deviceName }, answer, Date.now());
  let replaced: StoredLogin | undefined;
  await file
    .change(
      server,
      (before) => {
        replaced = before;
        return fresh;
      },
      { makeCurrent: true },
    )
    .catch(async (error: unknown) => {
      // A sign-in that cannot be stored must not stay active on the hub.
      await revokeLogin(server, fresh).catch(() => undefined);
      throw error;
    });
  // The replaced sign-in would otherwise stay active, with no copy left to revoke it. Failing here is not an error.
  if (replaced !== undefined) await revokeLogin(server, replaced).catch(() => undefined);
  const sentence = `Signed in to ${server}. The hub lists this machine as ${deviceName}.`;
  printResult(options, { server, device_name: deviceName }, () => sentence);
  if (settings.key !== undefined)
    printError('CAIRN_KEY is set and overrides this sign-in; unset it to use the sign-in.');
  return 0;
}

async function logout(options: Options): Promise<number> {
  const settings = readClientSettings();
  const file = new CredentialFile(settings.credentialFile);
  const server = chooseServer(settings, options.optional('server'));
  const isLocal = options.flag('local');
  let wasSignedIn = false;
  await file.change(server, async (login) => {
    wasSignedIn = login !== undefined;
    if (login !== undefined && !isLocal) await revokeLogin(server, login).catch(stillOpen);
    return undefined;
  });
  return printResult(options, { server, was_signed_in: wasSignedIn }, () => {
    if (!wasSignedIn) return `Not signed in to ${server}.`;
    if (!isLocal) return `Signed out of ${server}.`;
    return `Forgotten here. The sign-in on ${server} stays active until you end it on the settings page.`;
  });
}

function stillOpen(error: unknown): never {
  if (error instanceof ClientError) {
    error.message += ' The sign-in is still active; try again, or forget it only here with --local.';
  }
  throw error;
}

/** Revokes a sign-in on the hub: its tokens, and the key issued with them. */
async function revokeLogin(server: string, login: StoredLogin): Promise<void> {
  await revokeToken(server, login.refresh_token);
  if (login.mcp_key !== null) await revokeToken(server, login.mcp_key);
}

function instructions(server: string, codes: DeviceCodes): string {
  const minutes = Math.floor(codes.expires_in / 60);
  const direct = codes.verification_uri_complete ?? codes.verification_uri;
  return [
    ...(server.startsWith('http:') && !isLoopback(server)
      ? ['Warning: this address is not encrypted. Anyone on the network can read your tokens.', '']
      : []),
    `Open ${codes.verification_uri} in any browser and enter this code within ${minutes} minutes:`,
    '',
    `    ${codes.user_code}`,
    '',
    `Or open ${direct}`,
    'Waiting for you to approve...',
  ].join('\n');
}

function isLoopback(server: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(server).hostname);
}
