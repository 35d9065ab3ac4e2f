/** The table of content codings. */
import { expect, test } from 'vitest';
import { codingFor } from '../../../src/http/reply/coding.ts';

test.each([
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['GZIP;q=0.5 , BR;q=0', 'gzip'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['br; q=0.001', 'br'],
  ['br;q=x', 'identity'],
  ['zstd, deflate', 'identity'],
  ['*', 'identity'],
])('[WEB-22] an Accept-Encoding of %j gets %s', (accepted, coding) => {
  expect(codingFor(accepted)).toBe(coding);
});
