#!/usr/bin/env node
/** The cairn command: finds the subcommand, prints what it says, sets the exit code. */
import { ClientError } from '../client/client-error.ts';
import { Refusal } from '../fault.ts';
import { StartError } from '../start-error.ts';
import { version } from '../version.ts';
import { accountCommand } from './account.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { keyCommand } from './key.ts';
import { mirrorCommand } from './mirror.ts';
import { print, printError } from './output.ts';
import { serveCommand } from './serve.ts';
import { statsCommand } from './stats.ts';
import { tokenCommand } from './token.ts';
import { UsageError } from './usage-error.ts';
import { verifyCommand } from './verify.ts';
import { whoamiCommand } from './whoami.ts';

const HELP = `cairn ${version}

  cairn serve                                   run the service
  cairn account create --email EMAIL            make an account; prints its keys once
        [--name NAME] [--json]
  cairn key create --email EMAIL --name NAME    make one more MCP key; prints it once
  cairn key list   --email EMAIL                show the keys of an account
  cairn key revoke --email EMAIL --id KEY_ID    revoke a key at once
  cairn token create --email EMAIL              mint an access token for the REST resources, 1 hour
  cairn verify [--json]                         re-hash every blob, check every index
  cairn stats [--json]                          how full the data file is, table by table
  cairn backup DIR [--with-key] [--json]        copy everything while the service runs, and verify the copy
  cairn restore DIR [--json]                    put a backup into an empty CAIRN_DATA
  cairn mirror init [--recipient AGE,…]         this machine's mirror credential, and a key to encrypt for
        [--rotate]
  cairn mirror push [--repository DIR]          the HEAD commit: packed, encrypted, signed, uploaded
        [--recipient AGE,… | --passphrase-file FILE] [--label TEXT] [--again]
  cairn mirror list [--limit N]                 what the hub has, newest first
  cairn mirror latest                           the newest; exit code 1 when there is none
  cairn mirror pull [--commit SHA]              the newest or that commit: checked, decrypted, unpacked
        [--output DIR] [--identity FILE | --passphrase-file FILE] [--encrypted]
  cairn whoami [--server URL] [--json]          ask a hub whose account this is

Settings are environment variables: CAIRN_DATA (./data), CAIRN_PORT (8787), CAIRN_HOST (127.0.0.1) and those
in the README. account and key work whether the service runs or not; verify, stats and backup read beside it.
whoami speaks to a hub over HTTP: CAIRN_SERVER (http://127.0.0.1:8787), CAIRN_KEY.

Exit codes: 0 done, 1 refused or found damaged, 2 wrong usage.
`;

async function run(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  switch (command) {
    case 'serve':
      return await serveCommand(rest);
    case 'account':
      return await accountCommand(rest);
    case 'key':
      return await keyCommand(rest);
    case 'token':
      return await tokenCommand(rest);
    case 'verify':
      return await verifyCommand(rest);
    case 'mirror':
      return await mirrorCommand(rest);
    case 'whoami':
      return await whoamiCommand(rest);
    case 'stats':
      return await statsCommand(rest);
    case 'backup':
      return await backupCommand(rest);
    case 'restore':
      return await restoreCommand(rest);
    case '--version':
      print(version);
      return 0;
    case 'help':
    case '--help':
    case '-h':
      print(HELP);
      return 0;
    case undefined:
      throw new UsageError('name a command');
    default:
      throw new UsageError(`there is no command ${command}`);
  }
}

// The data folder holds keys: nothing this process makes is for other users.
process.umask(0o077);
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError) {
    printError(`cairn: ${error.message}; see cairn --help`);
    process.exitCode = 2;
  } else if (error instanceof StartError || error instanceof ClientError || error instanceof Refusal) {
    printError(`cairn: ${error.message}`);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
