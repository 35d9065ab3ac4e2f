/**
 * Owns the form of an archive: what files it has, and what its manifest says of them. An archive is one account as a folder:
 * `manifest.json`, a file of JSON lines for each section, and `blobs/` with contents under their SHA-256.
 */
import { z } from 'zod';
import { invalidField, type Refusal } from '../common/fault.ts';
import { parse } from '../fields/read.ts';

export const ARCHIVE_MANIFEST_FILE = 'manifest.json';
export const BLOB_FOLDER = 'blobs';
const FORMAT = 'cairn-account';
const VERSION = 1;

/** In the order in which they are written and read: papers name categories, which stand among the tasks. */
export const SECTIONS = ['tasks', 'papers', 'docs', 'handoffs', 'mirror', 'vaults'] as const;

export type ArchiveSection = (typeof SECTIONS)[number];

export const fileOf = (section: ArchiveSection): string => `${section}.ndjson`;

const count = z.int().nonnegative();
const sectionSchema = z.strictObject({ records: count, bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) });

const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  cairn_version: z.string().max(100),
  made_at: z.string().max(40),
  account: z.strictObject({ email: z.string(), name: z.string().nullable(), created_at: z.string() }),
  /** By section: the lines, bytes and hash of its file. */
  files: z.strictObject(
    Object.fromEntries(SECTIONS.map((section) => [section, sectionSchema])) as Record<
      ArchiveSection,
      typeof sectionSchema
    >,
  ),
  blobs: z.strictObject({ count, bytes: count }),
  /** What was damaged and is not in the archive, one sentence each; absent: nothing. */
  missing: z.array(z.string()).optional(),
});

export type ArchiveManifest = z.infer<typeof manifestSchema>;

export type SectionSummary = z.infer<typeof sectionSchema>;

/** The manifest of what a writer wrote. */
export function newManifest(rest: Omit<ArchiveManifest, 'format' | 'version'>): ArchiveManifest {
  return { format: FORMAT, version: VERSION, ...rest };
}

/** Reads a manifest. Refuses another format, a version that this build does not know, and what has another form. */
export function parseManifest(text: string): ArchiveManifest {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // What the parser says of its place helps nobody: nobody writes manifests by hand.
    throw damaged(`${ARCHIVE_MANIFEST_FILE} is not JSON`);
  }
  const head = z.object({ format: z.literal(FORMAT), version: z.int() }).safeParse(document);
  if (!head.success) throw damaged(`${ARCHIVE_MANIFEST_FILE} is not that of an account; cairn export writes one`);
  if (head.data.version !== VERSION) {
    throw damaged(
      `it has version ${head.data.version} of the format and this cairn reads ${VERSION}; use another cairn`,
    );
  }
  return readRecord(manifestSchema, document, `${ARCHIVE_MANIFEST_FILE}: `);
}

/** How every sentence about an archive begins. */
export const DAMAGED = 'the archive is refused: ';

/** What is wrong with an archive, said so that whoever has it can find it. */
export function damaged(what: string): Refusal {
  return invalidField('archive', `${DAMAGED}${what}`);
}

/** Reads what stands in an archive. Refuses what has another form than its schema; `place` begins the sentence. */
export function readRecord<T>(schema: z.ZodType<T>, document: unknown, place = ''): T {
  const parsed = parse(schema, document, 'record');
  if ('value' in parsed) return parsed.value;
  throw damaged(place + Object.values(parsed.errors).flat().join('; '));
}
