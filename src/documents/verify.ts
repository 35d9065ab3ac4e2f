/**
 * Checks the documents of one kind: each record against its index rows, its texts and the trash, and that nothing is
 * left over. Read-only.
 */
import type { CheckedReader } from '../store/checked-reader.ts';
import { keyText } from '../store/row-sums.ts';
import type { AnyTable } from '../store/table.ts';
import type { DocumentKind, DocumentRecord } from './kind.ts';
import { documentBin, type Space, type VersionRecord, versionRows, versionTexts } from './records.ts';
import { measure } from './texts.ts';

export interface DocumentsReport {
  /** Number of documents, including the trash. */
  readonly found: number;
  readonly problems: string[];
}

export function verifyDocuments<R extends DocumentRecord, H>(
  reader: CheckedReader,
  kind: DocumentKind<R, H>,
): DocumentsReport {
  const problems: string[] = [];
  const versions = verifyVersions(reader, kind);
  const shared = kind.checkShared?.(reader, problems);
  const expected = new Map<AnyTable, number>();
  let found = 0;
  reader.each(kind.records, ({ key, value }) => {
    const [accountId, id] = key;
    const name = `${kind.one} ${accountId} ${id}`;
    found += 1;
    if (value.id !== id) problems.push(`${name}: the record has id ${value.id}`);
    const head = reader.get(kind.heads, [accountId]);
    if ((head === undefined ? 0 : kind.lastId(head)) < id) problems.push(`${name}: its id could be reused`);
    for (const row of kind.rowsOf(accountId, value)) {
      expected.set(row.table, (expected.get(row.table) ?? 0) + 1);
      if (!row.isIn(reader)) problems.push(`${name}: ${row.missing}`);
    }
    shared?.check(name, accountId, value);
    versions.expect(name, accountId, id, value);
    if (value.deleted_at != null) versions.expectInBin(name, accountId, id, Date.parse(value.deleted_at));
  });
  for (const [what, table] of Object.entries(kind.indexes)) {
    const [rows, wanted] = [reader.count(table), expected.get(table) ?? 0];
    if (rows !== wanted) problems.push(`${what}: ${rows} rows instead of ${wanted}`);
  }
  shared?.finish?.();
  return { found, problems: [...problems, ...versions.problems()] };
}

/** Receives the documents of a kind one after another, then reports the problems of their versions. */
interface VersionsCheck {
  /** The document exists, and this is its newest version. */
  expect(name: string, accountId: string, id: number, document: Newest): void;
  /** The document must be in the trash since this time. */
  expectInBin(name: string, accountId: string, id: number, sinceMs: number): void;
  problems(): string[];
}

type Newest = Pick<DocumentRecord, 'version' | 'size_bytes' | 'json_bytes'>;

/** Walks the versions of a kind once. The caller then names the documents they must belong to. */
function verifyVersions(
  reader: CheckedReader,
  { space, keeps }: Pick<DocumentKind<DocumentRecord, unknown>, 'space' | 'keeps'>,
): VersionsCheck {
  const problems: string[] = [];
  const binned = new Set<string>();
  for (const key of reader.keys(documentBin)) if (key[2] === space) binned.add(keyText(key));
  const expectInBin = (name: string, accountId: string, id: number, sinceMs: number, version = 0) => {
    if (!binned.delete([sinceMs, accountId, space, id, version].join(' '))) problems.push(`${name}: not in the trash`);
  };
  const newest = new Map<string, Newest>();
  let rows = 0;
  reader.each(versionRows, ({ key, value }) => {
    const [accountId, of, id, version] = key;
    if (of !== space) return;
    rows += 1;
    checkText(reader, key, value, problems);
    const before = newest.get(`${accountId} ${id}`);
    if (keeps === 'days' && before !== undefined) {
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
  problems.push(`version ${keyText(key)}: its text ${text === undefined ? 'is missing' : 'has the wrong size'}`);
}
