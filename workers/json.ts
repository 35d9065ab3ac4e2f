/** Parses large JSON off the main thread. */

import { Refusal } from '../src/common/fault.ts';
import { parseJson } from '../src/http/request/json-body.ts';
import type { ParsedJson, ParseJsonInput } from '../src/pool/jobs.ts';

export function parseDocument({ bytes }: ParseJsonInput): ParsedJson {
  try {
    return { ok: true, document: parseJson(bytes) };
  } catch (error) {
    // A class does not survive the way between threads, what it refuses does.
    if (error instanceof Refusal) return { ok: false, fault: error.fault };
    throw error;
  }
}
