/** What a member has set aside: its files, kept in memory, and the marks by which the others know of them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test } from 'vitest';
import { markSetAside, marksInTime } from '../../../src/ops/member/marks.ts';
import { SetAsideFiles } from '../../../src/ops/member/set-aside.ts';
import { openCommitLog } from '../../../src/replication/log/open.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const keep = (folder: string, name: string): void => {
  mkdirSync(join(folder, 'set-aside'), { recursive: true });
  writeFileSync(join(folder, 'set-aside', name), '{}\n');
};

test('[MEMBER-5] files that were set aside are known without reading the folder each time, until a person removes them', () => {
  const folder = temporaryFolder();
  let nowMs = 0;
  const changes: number[] = [];
  const files: SetAsideFiles = new SetAsideFiles(
    folder,
    () => changes.push(files.names.length),
    () => nowMs,
  );
  expect(files.names).toEqual([]);
  keep(folder, 'b.jsonl');
  keep(folder, 'a.jsonl');
  keep(folder, 'c.jsonl.draft');
  nowMs += 60_000;
  // Nobody but this process adds one.
  expect(files.names).toEqual([]);
  files.look();
  expect(files.names).toEqual(['a.jsonl', 'b.jsonl']);
  rmSync(join(folder, 'set-aside', 'a.jsonl'));
  nowMs += 4999;
  expect(files.names).toEqual(['a.jsonl', 'b.jsonl']);
  nowMs += 1;
  expect(files.names).toEqual(['b.jsonl']);
  rmSync(join(folder, 'set-aside'), { recursive: true });
  nowMs += 5000;
  expect(files.names).toEqual([]);
  expect(changes).toEqual([2, 1, 0]);
  keep(folder, 'd.jsonl');
  expect(new SetAsideFiles(folder).names).toEqual(['d.jsonl']);
});

test('[MEMBER-5] the log has a mark of each file that a member has set aside, and no other', async () => {
  const log = await openCommitLog(`file://${join(temporaryFolder(), 'log')}`);
  expect((await marksInTime(log)).aside).toEqual({});
  const mark = (member: string, ...files: string[]) =>
    markSetAside({ log, member, files, warn: pino({ level: 'silent' }) });
  await mark('west', '1', '2');
  await mark('west', '2', '3', '4');
  await mark('we', '1');
  expect((await marksInTime(log)).aside).toEqual({ west: 3, we: 1 });
  await mark('we');
  await mark('west', '4');
  expect((await marksInTime(log)).aside).toEqual({ west: 1 });
  await log.close();
});
