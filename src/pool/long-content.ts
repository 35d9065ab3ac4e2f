/** Replaces a long content of file sync in a parsed body after a job of the pool has hashed and escaped it. */
import type { PreparedContent, RawContent } from './jobs.ts';

export class LongContent {
  readonly encoding: RawContent['encoding'];
  /** Result of the job, or the fault it found. The bytes were transferred from the worker thread, not copied. */
  readonly prepared: PreparedContent;

  constructor(encoding: RawContent['encoding'], prepared: PreparedContent) {
    this.encoding = encoding;
    this.prepared = prepared;
  }

  /** What makes it the content that it is, for a comparison of requests. */
  toJSON(): unknown {
    const { encoding, prepared } = this;
    return { encoding, ...(prepared.ok ? { sha256: prepared.sha256 } : { fault: prepared.sentence }) };
  }
}
