/** Installs the watch of all listed folders as a service of this user, asks after it and removes it. Folders and sign-ins stay. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ClientError } from '../../client-error.ts';
import type { Call, Supervisor } from './supervisor.ts';

export interface ServiceStanding {
  readonly isInstalled: boolean;
  readonly isActive: boolean;
  /** False: it ends when the user signs out, and begins at the next sign-in. */
  readonly outlivesSession: boolean;
}

/** Writes the file and starts the service; one that runs is started again. Throws ClientError with what the system said. */
export function installWatch({ file, text, encoding, starts }: Supervisor): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { encoding, mode: 0o600 });
  } catch (error) {
    throw new ClientError(`${file} cannot be written (${codeOf(error)}).`);
  }
  for (const call of starts) make(call);
}

/** Stops the service and removes its file. Returns false when it was not installed. */
export function removeWatch({ file, stops, forgets }: Supervisor): boolean {
  if (!existsSync(file)) return false;
  for (const call of stops) make(call);
  rmSync(file);
  for (const call of forgets) make(call);
  return true;
}

export function serviceStanding({ name, file, asks }: Supervisor, user: string): ServiceStanding {
  const isInstalled = existsSync(file);
  return {
    isInstalled,
    isActive: isInstalled && said(asks) !== undefined,
    outlivesSession: name === 'systemd' && lingers(user),
  };
}

/** True when services of a user run while the user is signed out (loginctl(1), "enable-linger"). */
function lingers(user: string): boolean {
  return said({ program: 'loginctl', args: ['show-user', user, '--property=Linger', '--value'] })?.trim() === 'yes';
}

/** What a program prints; undefined when it fails, or is not there. */
function said({ program, args }: Call): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}

function make({ program, args, mayFail }: Call): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (mayFail === true) return;
    const { stderr } = error as { readonly stderr?: Buffer };
    const code = codeOf(error);
    const why = code === 'ENOENT' ? `there is no ${program} on this machine` : (stderr?.toString() ?? code).trim();
    throw new ClientError(
      `${[program, ...args].join(' ')} failed: ${why.split('\n')[0]}. To run the watch in another way: cairn sync watch --all`,
    );
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';
