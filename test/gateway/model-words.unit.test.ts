/** Proves that a refusal tells a model its next step in the words of the tools that it has. */
import { expect, test } from 'vitest';
import { explain, type Fault } from '../../src/common/fault.ts';
import { inModelWords } from '../../src/gateway/model-words.ts';

type Conflict = Extract<Fault, { kind: 'sync_conflict' }>;

const REASONS: readonly Conflict['reason'][] = ['base', 'clock', 'deleted', 'exists', 'unread'];
const base = { kind: 'sync_conflict', path: 'notes/a.md', serverSha256: 'd3b8' } as const;

test.each(REASONS)('[TOOL-5] a conflict by %s names only tools for models', (reason) => {
  for (const one of [{ conflictId: 'c_1' }, { conflictId: null }, { conflictId: null, broughtBytes: false as const }]) {
    const told = inModelWords(explain({ ...base, reason, ...one } as unknown as Fault));
    expect(told).toMatch(/settle_conflict|choose another name|read it, then write with its version/);
    expect(told).not.toMatch(/\bsync_|base_sha|\bpush|HLC/);
  }
});

test('[TOOL-5] a task that changed since is sent again with the argument that the tool has', () => {
  const told = inModelWords(
    'the task is at version 2, not 1; if your change still applies, send it with expected_version 2.',
  );
  expect(told).toContain('send it with version 2');
});
