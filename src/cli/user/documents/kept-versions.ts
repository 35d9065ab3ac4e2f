/** Prints the kept versions of a document, newest first: number, time, size and author. */
import { jsonLine, shownLine } from '../../../client/shown.ts';
import type { Options } from '../../command.ts';
import { print } from '../../output.ts';

/** A version as the tools list it. */
export interface KeptVersion {
  readonly version: number;
  readonly size_bytes: number;
  /** ISO 8601. */
  readonly created_at: string;
  /** Undefined when the author is unknown. */
  readonly changed_by?: string;
}

/** Prints one version per line; with --json, one object with `more` and the versions. */
export function printVersions(options: Options, versions: readonly KeptVersion[], more: object = {}): void {
  if (options.json) {
    print(jsonLine({ ...more, versions }));
    return;
  }
  for (const { version, created_at: at, size_bytes: bytes, changed_by: by } of versions) {
    print(`${version}  ${at}  ${bytes} bytes${by === undefined ? '' : `  by ${shownLine(by)}`}`);
  }
}
