/** A long text is encoded in turns, to the same bytes as at once. */
import { expect, test } from 'vitest';
import { turns } from '../../../src/common/turns.ts';
import { encodedInTurns, isLong } from '../../../src/http/reply/encoded.ts';
import { limits } from '../../../src/limits/service.ts';

const KiB = 1024;

test.each([
  ['nothing', ''],
  ['one piece', 'a'.repeat(32 * KiB)],
  ['a pair of surrogates across two pieces', `${'a'.repeat(32 * KiB - 1)}😀${'b'.repeat(70 * KiB)}`],
  ['a pair at the end of a piece', `${'a'.repeat(32 * KiB - 2)}😀${'b'.repeat(70 * KiB)}`],
  ['pairs alone', '😀'.repeat(50 * KiB)],
  ['a lone surrogate at the end of a piece', `${'a'.repeat(32 * KiB - 1)}\ud83d${'é'.repeat(70 * KiB)}`],
  ['parts of text and bytes', ['[', Buffer.from('"é"'), ',', '"ü"'.repeat(40 * KiB), ']']],
] as const)('[NET-12] %s: the bytes are those of the text', async (_, body) => {
  const parts = typeof body === 'string' ? [body] : body;
  const whole = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  expect((await encodedInTurns(body, 'one')).equals(whole)).toBe(true);
});

test.each([
  [undefined, false],
  ['a'.repeat(limits.replyBufferBytes), false],
  ['a'.repeat(limits.replyBufferBytes + 1), true],
  [['a'.repeat(limits.replyBufferBytes), 'b'], true],
  [[Buffer.alloc(limits.replyBufferBytes + 1), 'b'], false],
  [{ bytesTotal: 10 * limits.replyBufferBytes, read: () => Buffer.alloc(1) }, false],
])('[NET-12] only a long text is encoded in turns, case %#', (body, expected) => {
  expect(isLong(body)).toBe(expected);
});

test('[NET-12] others go on while a long text is encoded', async () => {
  const order: string[] = [];
  const long = encodedInTurns('"é"'.repeat(6_000_000), 'one').then(() => order.push('long'));
  const other = turns.next('another').then(() => order.push('other'));
  await Promise.all([long, other]);
  expect(order).toEqual(['other', 'long']);
});
