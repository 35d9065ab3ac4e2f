/**
 * The note in the header of an encrypted archive: readable without a key, so that a machine which can only encrypt knows
 * whether the newest backup has the same refs and the same recipients. Both are keyed hashes with a new salt each time:
 * they reveal nothing to a reader who does not know the recipients and refs already. Pure but for the salt.
 */
import { createHmac, randomBytes } from 'node:crypto';

const TYPE = 'cairn-backup';
const VERSION = '1';
const WORD_CHARS = 32;

export interface NoteFacts {
  readonly recipients: readonly string[];
  /** Digest of refs and choices. */
  readonly state: string;
  /** What an increment must have in common with its base. */
  readonly choices: string;
  readonly part: number;
  readonly parts: number;
}

/** Bytes of an archive that contain its note: each recipient takes less than 2.5 KiB. */
export const NOTE_BYTES_MAX = 64 * 1024;

/** The words of a note. */
export function writeNote(facts: NoteFacts, salt = randomBytes(16).toString('hex')): readonly string[] {
  const { recipients, state, choices, part, parts } = facts;
  const lock = keyed(salt, recipients.toSorted().join('\n'));
  return [TYPE, VERSION, salt, lock, keyed(salt, state), `${part}/${parts}`, keyed(salt, choices)];
}

export interface Note {
  /** False: an upload of several parts, of which later ones exist or are missing. */
  readonly isLastPart: boolean;
  isFor(recipients: readonly string[]): boolean;
  isOf(state: string): boolean;
  hasChoices(choices: string): boolean;
}

/** Reads the note from the beginning of an archive; undefined when it has none. */
export function readNote(beginning: Buffer): Note | undefined {
  const header = beginning.toString('latin1').split('\n--- ')[0] ?? '';
  const words = header
    .split('\n')
    .find((line) => line.startsWith(`-> ${TYPE} ${VERSION} `))
    ?.split(' ');
  if (words === undefined) return undefined;
  const [, , , salt = '', lock, state, place = '', choices] = words;
  const [part, parts] = place.split('/');
  return {
    isLastPart: part === parts,
    isFor: (recipients) => lock === keyed(salt, recipients.toSorted().join('\n')),
    isOf: (text) => state === keyed(salt, text),
    hasChoices: (text) => choices === keyed(salt, text),
  };
}

function keyed(salt: string, text: string): string {
  return createHmac('sha256', salt).update(text).digest('hex').slice(0, WORD_CHARS);
}
