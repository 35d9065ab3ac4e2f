/** What an importer finds in the export of another program. */

/** Programs that can be left for Cairn. */
export const IMPORT_SOURCES = ['todoist', 'notion', 'obsidian', 'markdown'] as const;

export type ImportSource = (typeof IMPORT_SOURCES)[number];

export interface ImportedFile {
  /** Path in the vault. */
  readonly path: string;
  readonly sizeBytes: number;
  read(): Promise<Buffer>;
}

export interface ImportedTask {
  readonly content: string;
  /** YYYY-MM-DD; null: none. */
  readonly dueDate: string | null;
  readonly isImportant: boolean;
  /** Name of its category. */
  readonly category: string;
}

/** Something that is not imported as it was, in one sentence. */
export type ImportNotice = string;

export interface Imported<T> {
  readonly items: readonly T[];
  readonly notices: readonly ImportNotice[];
  /** Releases the export; no file can be read afterwards. */
  close?(): void;
}
