/** The steps of the floor of a durable write, each with all of those before. */
export const FLOOR_STEPS = ['http', 'json', 'hashes', 'row', 'rows', 'reads'] as const;

export type FloorStep = (typeof FLOOR_STEPS)[number];

/** What is written: a task as `create_task` writes it, or a file of 1 KiB as `sync_push` does. */
export type FloorWork = 'task' | 'file';

export const STEP_NAMES: Readonly<Record<FloorStep, string>> = {
  http: 'the HTTP library: head and body read, a fixed answer',
  json: 'and JSON.parse, JSON.stringify of the answer',
  hashes: 'and SHA-256 and the blob id of the content (files only)',
  row: 'and one packed row, in one durable commit for all that wait',
  rows: 'and the other rows, and the heads once a commit',
  reads: 'and the reads of a decision',
};
