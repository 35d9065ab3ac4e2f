import { expect, test } from 'vitest';
import { textLine } from '../../src/common/log/log-text.ts';

test.each([
  [{ level: 30, time: '2026-11-22T05:00:01.123Z', port: 8787, msg: 'listening' }, '05:00:01 listening port=8787\n'],
  [
    { level: 50, time: '2026-11-22T05:00:01.123Z', err: { code: 'EIO' }, msg: 'failed' },
    '05:00:01 ERROR failed err={"code":"EIO"}\n',
  ],
  [
    { level: 40, time: '2026-11-22T05:00:01.123Z', path: '/\u001b[2J\u009b\u202e', msg: 'x' },
    '05:00:01 WARN x path=/ [2J  \n',
  ],
])('[OPS-19] %j is one readable line that does not act on a terminal', (record, line) => {
  expect(textLine(JSON.stringify(record))).toBe(line);
});
