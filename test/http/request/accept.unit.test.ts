/** What a client's Accept header says of a media type. */
import { expect, test } from 'vitest';
import { acceptance } from '../../../src/http/request/accept.ts';

const NDJSON = 'application/x-ndjson';

test.each([
  [undefined, 'allowed'],
  ['', 'allowed'],
  ['APPLICATION/X-NDJSON', 'named'],
  ['text/html, application/x-ndjson; charset=utf-8; q=0.1', 'named'],
  ['*/*, application/x-ndjson;q=0', 'refused'],
  ['application/*;q=0, */*', 'refused'],
  ['*/*;q=0.000', 'refused'],
  ['junk, ;;,', 'refused'],
])('[MCP-4] Accept: %s says of lines: %s', (header, expected) => {
  expect(acceptance(header, NDJSON)).toBe(expected);
});
