/**
 * Reads the manifest of a device: its files, and the hashes that the device and the hub last agreed on. Invalid paths
 * are returned separately with a reason, so that one bad name does not hide what to do with the others.
 */
import { invalidField, Refusal } from '../../common/fault.ts';
import { turns } from '../../common/turns.ts';
import { limits } from '../../limits/service.ts';
import { checkPath, type VaultPath } from '../log/paths.ts';
import type { DeviceState } from './standing.ts';

/** SHA-256 by path, unchecked. */
type GivenHashes = Readonly<Record<string, unknown>>;

/** The manifest as sent by the device, unchecked. */
export interface GivenManifest {
  readonly manifest: GivenHashes;
  readonly bases: GivenHashes;
  /** Paths of the executable files in the manifest. Undefined when the device does not know about executable bits. */
  readonly executables: readonly string[] | undefined;
}

export interface DeviceFile extends DeviceState {
  /** As the hub would spell it. */
  readonly path: string;
  /** As the device spells it. */
  readonly given: string;
  /** Undefined when the device did not report it. */
  readonly executable?: boolean | undefined;
}

interface RefusedName {
  readonly path: string;
  readonly reason: string;
}

export interface DeviceManifest {
  /** By folded path. */
  readonly files: Map<string, DeviceFile>;
  readonly refused: RefusedName[];
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Reads a manifest in short turns. Throws Refusal `invalid_fields` for `manifest` or `bases` when they name too many
 * files, or contain an invalid hash or a path far too long.
 */
export async function readDeviceManifest(
  accountId: string,
  { manifest, bases, executables }: GivenManifest,
): Promise<DeviceManifest> {
  const files = new Map<string, DeviceFile>();
  const refused: RefusedName[] = [];
  const entries = new Entries(accountId);
  const programs = executables && new Set(executables);
  for await (const { path: given, sha256: local } of entries.of('manifest', manifest)) {
    const checked = tryPath(given);
    if ('reason' in checked) {
      refused.push(checked);
      continue;
    }
    const { path, folded } = checked;
    const twin = files.get(folded);
    if (twin !== undefined) {
      const reason = `path is the same as ${twin.given} but for case or Unicode form; rename one`;
      refused.push({ path: given, reason });
      continue;
    }
    files.set(folded, { path, given, local, base: undefined, executable: programs?.has(given) });
  }
  for await (const { path, sha256: base } of entries.of('bases', bases)) {
    const checked = tryPath(path);
    if ('reason' in checked) continue;
    const known = files.get(checked.folded) ?? { path: checked.path, given: path, local: undefined };
    files.set(checked.folded, { ...known, base });
  }
  return { files, refused };
}

/** Iterates over the entries of both lists, and counts them together. */
class Entries {
  readonly #accountId: string;
  #count = 0;

  constructor(accountId: string) {
    this.#accountId = accountId;
  }

  async *of(field: string, hashes: GivenHashes): AsyncGenerator<{ readonly path: string; readonly sha256: string }> {
    for (const path of Object.keys(hashes)) {
      this.#count += 1;
      if (this.#count > limits.manifestFilesMax) {
        const sentence = `manifest and bases together name more than ${limits.manifestFilesMax} files; send one folder at a time with prefix`;
        throw invalidField(field, sentence);
      }
      if (turns.isOver) await turns.next(this.#accountId);
      const value = hashes[path];
      const sha256 = typeof value === 'string' && value.length === 64 ? value.toLowerCase() : '';
      const shown = path.slice(0, limits.pathPartBytesMax);
      if (!SHA256.test(sha256))
        throw invalidField(field, `${field}: ${shown} must have a SHA-256 of 64 hex characters`);
      if (path.length > 4 * limits.pathBytesMax)
        throw invalidField(field, `${field}: ${shown}… is too long for a path`);
      yield { path, sha256 };
    }
  }
}

function tryPath(path: string): VaultPath | RefusedName {
  try {
    return checkPath(path);
  } catch (error) {
    if (error instanceof Refusal) return { path, reason: error.message };
    throw error;
  }
}
