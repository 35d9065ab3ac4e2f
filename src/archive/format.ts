/**
 * Defines the format of an archive: its files and its manifest. An archive is one account as a folder: `manifest.json`,
 * a JSON Lines file for each section, and `blobs/` with contents named by their SHA-256.
 */
import { z } from 'zod';
import { invalidField, type Refusal } from '../common/fault.ts';
import { parse } from '../fields/read.ts';

export const ARCHIVE_MANIFEST_FILE = 'manifest.json';
export const BLOB_FOLDER = 'blobs';
const FORMAT = 'cairn-account';
const VERSION = 1;

/** Sections in the order of writing and reading: papers name categories, which are part of `tasks`. */
const FIRST_SECTIONS = ['tasks', 'papers', 'docs', 'handoffs', 'mirror', 'vaults'] as const;
/** Archives of earlier versions have none of these. */
const LATER_SECTIONS = ['activity'] as const;
export const SECTIONS = [...FIRST_SECTIONS, ...LATER_SECTIONS] as const;

export type ArchiveSection = (typeof SECTIONS)[number];

export const fileOf = (section: ArchiveSection): string => `${section}.ndjson`;

const count = z.int().nonnegative();
const sectionSchema = z.strictObject({ records: count, bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) });

function shapeOf<S extends string, T>(sections: readonly S[], schema: T): Record<S, T> {
  return Object.fromEntries(sections.map((section) => [section, schema])) as Record<S, T>;
}

const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  cairn_version: z.string().max(100),
  made_at: z.string().max(40),
  account: z.strictObject({
    email: z.string(),
    name: z.string().nullable(),
    created_at: z.string(),
    /** IANA name; absent: the account has set none. */
    time_zone: z.string().optional(),
  }),
  /** Lines, bytes and hash of the file of each section. */
  files: z.strictObject({
    ...shapeOf(FIRST_SECTIONS, sectionSchema),
    ...shapeOf(LATER_SECTIONS, sectionSchema.optional()),
  }),
  blobs: z.strictObject({ count, bytes: count }),
  /** Damaged data left out of the archive, one sentence each. Absent when nothing is damaged. */
  missing: z.array(z.string()).optional(),
});

export type ArchiveManifest = z.infer<typeof manifestSchema>;

export type SectionSummary = z.infer<typeof sectionSchema>;

export function newManifest(rest: Omit<ArchiveManifest, 'format' | 'version'>): ArchiveManifest {
  return { format: FORMAT, version: VERSION, ...rest };
}

/** Parses a manifest. Throws Refusal `invalid_fields` on another format, unknown version or invalid structure. */
export function parseManifest(text: string): ArchiveManifest {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // The parser's position helps nobody: manifests are not written by hand.
    throw damaged(`${ARCHIVE_MANIFEST_FILE} is not JSON`);
  }
  const head = z.object({ format: z.literal(FORMAT), version: z.int() }).safeParse(document);
  if (!head.success)
    throw damaged(`${ARCHIVE_MANIFEST_FILE} does not describe an account; make the archive with \`cairn export\``);
  if (head.data.version !== VERSION) {
    throw damaged(
      `it has version ${head.data.version} of the format and this cairn reads ${VERSION}; use another cairn`,
    );
  }
  return readRecord(manifestSchema, document, `${ARCHIVE_MANIFEST_FILE}: `);
}

/** Start of every error about an archive. */
export const DAMAGED = 'the archive is refused: ';

/** Returns the Refusal of a damaged archive. `what` must let the owner find the damage. */
export function damaged(what: string): Refusal {
  return invalidField('archive', `${DAMAGED}${what}`);
}

/**
 * Validates a record of an archive. Throws Refusal `invalid_fields` when it does not match the schema; `place` precedes
 * the error.
 */
export function readRecord<T>(schema: z.ZodType<T>, document: unknown, place = ''): T {
  const parsed = parse(schema, document, 'record');
  if ('value' in parsed) return parsed.value;
  throw damaged(place + Object.values(parsed.errors).flat().join('; '));
}
