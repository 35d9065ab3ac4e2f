/** Owns what stands in the place of a long content of file sync once a job of the pool has hashed and escaped it. */
import type { PreparedContent, RawContent } from './jobs.ts';

export class LongContent {
  readonly encoding: RawContent['encoding'];
  /** What the job found, be it that this is not content. The bytes moved here from its thread and are no copy. */
  readonly prepared: PreparedContent;

  constructor(encoding: RawContent['encoding'], prepared: PreparedContent) {
    this.encoding = encoding;
    this.prepared = prepared;
  }
}
