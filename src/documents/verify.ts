/**
 * Checks the versions of one space: each row against its text, each document against its newest version, and the trash.
 * Read-only.
 */
import type { CheckedReader } from '../store/checked-reader.ts';
import { documentBin, type Space, type VersionRecord, versionRows, versionTexts } from './records.ts';
import { measure } from './texts.ts';

interface Document extends Pick<VersionRecord, 'size_bytes' | 'json_bytes'> {
  readonly version: number;
}

/** Receives the documents of a capability one after another, then reports the problems of their versions. */
export interface VersionsCheck {
  /** The document exists, and this is its newest version. */
  expect(name: string, accountId: string, id: number, document: Document): void;
  /** The document must be in the trash since this time. */
  expectInBin(name: string, accountId: string, id: number, sinceMs: number): void;
  problems(): string[];
}

export interface VersionsRule {
  readonly space: Space;
  /** True when a replaced version is in the trash from its replacement on. */
  readonly binsReplaced: boolean;
}

/** Walks the versions of a space once. The caller then names the documents they must belong to. */
export function verifyVersions(reader: CheckedReader, rule: VersionsRule): VersionsCheck {
  const { space } = rule;
  const problems: string[] = [];
  const binned = new Set<string>();
  for (const key of reader.keys(documentBin)) if (key[2] === space) binned.add(key.join(' '));
  const expectInBin = (name: string, accountId: string, id: number, sinceMs: number, version = 0) => {
    if (!binned.delete([sinceMs, accountId, space, id, version].join(' '))) problems.push(`${name}: not in the trash`);
  };
  const newest = new Map<string, Document>();
  let rows = 0;
  reader.each(versionRows, ({ key, value }) => {
    const [accountId, of, id, version] = key;
    if (of !== space) return;
    rows += 1;
    checkText(reader, key, value, problems);
    const before = newest.get(`${accountId} ${id}`);
    if (rule.binsReplaced && before !== undefined) {
      const name = `version ${accountId} ${space} ${id} ${before.version}`;
      expectInBin(name, accountId, id, Date.parse(value.created_at), before.version);
    }
    newest.set(`${accountId} ${id}`, { ...value, version });
  });
  let texts = 0;
  for (const key of reader.keys(versionTexts)) if (key[1] === space) texts += 1;
  if (texts !== rows) problems.push(`texts of ${space}: ${texts} texts for ${rows} versions`);
  return {
    expect(name, accountId, id, document) {
      const found = newest.get(`${accountId} ${id}`);
      newest.delete(`${accountId} ${id}`);
      if (found?.version !== document.version) {
        problems.push(`${name}: its version ${document.version} is not the latest`);
      } else if (found.size_bytes !== document.size_bytes || found.json_bytes !== document.json_bytes) {
        problems.push(`${name}: its size is not that of its text`);
      }
    },
    expectInBin,
    problems: () => [
      ...problems,
      ...[...newest.keys()].map((name) => `versions of ${space} ${name}: belong to nothing`),
      ...[...binned].map((name) => `trash ${name}: not deleted`),
    ],
  };
}

function checkText(
  reader: CheckedReader,
  key: [string, Space, number, number],
  row: VersionRecord,
  problems: string[],
): void {
  const text = reader.get(versionTexts, key);
  const size = text === undefined ? undefined : measure(text);
  if (size?.size_bytes === row.size_bytes && size.json_bytes === row.json_bytes) return;
  problems.push(`version ${key.join(' ')}: its text ${text === undefined ? 'is missing' : 'has the wrong size'}`);
}
