/** A scan of what changed finds what a scan of everything finds, and looks at nothing else. */
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newState } from '../../../src/client/sync/base/state.ts';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { type FolderPath, parentsOf } from '../../../src/client/sync/folder/path.ts';
import { FullScan, rescanPaths, type Scan, scanFolder } from '../../../src/client/sync/scan/scan.ts';
import { runs, seed } from '../../support/seed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const state = newState('http://127.0.0.1:1', 'v_0000000000000000');

function newFolder() {
  const root = temporaryFolder();
  const folder = new SyncedFolder(root);
  folder.makeOwn();
  folder.hideFromGit();
  return { root, folder };
}

/** What a scan tells, in a form to compare. */
function told({ files, skipped, links, folders }: Scan) {
  const hashes = [...files].map(([path, { sha256, executable }]) => `${path} ${sha256} ${executable}`);
  return [hashes, [...skipped].map(String), [...links], [...folders]].map((list) => list.sort());
}

const NAMES = ['a', 'b', 'c', 'c.md', '.cairnx', 'skip.log'];
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), at: path, text: fc.string({ maxLength: 3 }) }),
  fc.record({ kind: fc.constant('remove' as const), at: path }),
  fc.record({ kind: fc.constant('move' as const), at: path, to: path }),
  fc.record({ kind: fc.constant('link' as const), at: path }),
  fc.record({ kind: fc.constant('mode' as const), at: path, mode: fc.constantFrom(0o644, 0o755) }),
);

/** Does a step where it can be done. Returns the paths that the system would report. */
function done(root: string, one: typeof step extends fc.Arbitrary<infer Step> ? Step : never): string[] {
  const at = join(root, one.at);
  try {
    switch (one.kind) {
      case 'write':
        mkdirSync(dirname(at), { recursive: true });
        writeFileSync(at, one.text);
        return [one.at];
      case 'remove':
        rmSync(at, { recursive: true });
        return [one.at];
      case 'move':
        mkdirSync(dirname(join(root, one.to)), { recursive: true });
        renameSync(at, join(root, one.to));
        return [one.at, one.to];
      case 'link':
        mkdirSync(dirname(at), { recursive: true });
        symlinkSync('/nowhere', at);
        return [one.at];
      case 'mode':
        if (lstatSync(at).isSymbolicLink()) return [];
        chmodSync(at, one.mode);
        return [one.at];
    }
  } catch {
    // Another entry is in the way; folders may have been made.
    return one.kind === 'move' ? [one.at, one.to] : [one.at];
  }
}

test(`[SYN-26] a scan of the reported paths tells what a scan of everything tells (FC_SEED=${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { minLength: 1, maxLength: 5 }), async (rounds) => {
      const { root, folder } = newFolder();
      const known = { ...state, only: ['!*.log'] };
      let last = await scanFolder(folder, known);
      for (const steps of rounds) {
        const paths = new Set(steps.flatMap((one) => done(root, one)).flatMap((name) => [name, ...parentsOf(name)]));
        const before = { ...last, rules: { ...last.rules, stamp: undefined } };
        expect(await rescanPaths(folder, known, { before, paths, onFolder: () => undefined })).toBe(undefined);
        const part = await rescanPaths(folder, known, { before: last, paths, onFolder: () => undefined });
        const all = await scanFolder(folder, known);
        expect(part && told(part)).toEqual(told(all));
        last = part ?? all;
      }
      rmSync(root, { recursive: true });
    }),
    { numRuns: runs(20, 200), seed },
  );
}, 120_000);

/** Longer than a scan goes on without a pause. */
const TURN_MS = 25;

function passTurn(): void {
  for (const endMs = performance.now() + TURN_MS; performance.now() < endMs; );
}

test(`[SYN-26] a scan that is left while things change ends with what a scan of everything tells (FC_SEED=${seed})`, async () => {
  const round = fc.array(step, { maxLength: 6 });
  let times = 0;
  await fc.assert(
    fc.asyncProperty(round, fc.array(round, { minLength: 4, maxLength: 4 }), async (first, rounds) => {
      const { root, folder } = newFolder();
      const known = { ...state, only: ['!*.log'] };
      for (const name of ['a/x', 'b/x', 'c/x', 'd/x']) done(root, { kind: 'write', at: name, text: name });
      for (const one of first) done(root, one);
      const full = new FullScan(folder, known, { onFolder: passTurn });
      let found = await full.goOn(() => true);
      for (const steps of rounds) {
        if (found !== 'left') break;
        times += 1;
        full.lookAgain(steps.flatMap((one) => done(root, one)).flatMap((name) => [name, ...parentsOf(name)]));
        found = await full.goOn(() => true);
      }
      while (found === 'left') found = await full.goOn(() => true);
      if (found === 'outdated') throw new Error('nothing here needs another scan');
      expect([found.looked, told(found)]).toEqual([undefined, told(await scanFolder(folder, known))]);
      rmSync(root, { recursive: true });
    }),
    { numRuns: runs(10, 100), seed },
  );
  expect(times).toBeGreaterThan(10);
}, 120_000);

test('[SYN-26] what a sync writes while a scan is left is looked at again', async () => {
  const { root, folder } = newFolder();
  for (const name of ['a/x', 'b/x']) done(root, { kind: 'write', at: name, text: name });
  const full = new FullScan(folder, state, { onFolder: passTurn });
  expect(await full.goOn(() => true)).toBe('left');
  const paths = ['a/new', 'b/new', 'c'] as FolderPath[];
  for (const path of paths) folder.put(path, Buffer.from(path), undefined);
  // As an inbox does that corrects the scan before.
  folder.touched.clear();
  let found = await full.goOn(() => true);
  while (found === 'left') found = await full.goOn(() => true);
  if (found === 'outdated') throw new Error('nothing here needs another scan');
  expect([...found.files.keys()].sort()).toEqual(['a/new', 'a/x', 'b/new', 'b/x', 'c']);
  expect(folder.touched.alsoTo).toBe(undefined);
});

test('[SYN-26] nothing but the named paths is looked at; odd names, new rules and nested folders need a scan of everything', async () => {
  const { root, folder } = newFolder();
  for (const name of ['named', 'other']) writeFileSync(join(root, name), '1');
  const before = await scanFolder(folder, state);
  const otherBefore = before.files.get('other' as FolderPath);
  for (const name of ['named', 'other']) writeFileSync(join(root, name), '2');
  const again = async (...paths: string[]) =>
    await rescanPaths(folder, state, { before, paths: new Set(paths), onFolder: () => undefined });
  const part = await again('named');
  expect([part?.files.get('named' as FolderPath)?.sha256, part?.files.get('other' as FolderPath)]).toEqual([
    sha256Of(Buffer.from('2')),
    otherBefore,
  ]);
  for (const odd of ['e\u0301', 'broken \ufffd', '']) expect(await again('named', odd)).toBe(undefined);
  mkdirSync(join(root, 'nested', '.cairn'), { recursive: true });
  expect(await again('nested')).toBe(undefined);
  writeFileSync(join(root, '.cairnignore'), 'other\n');
  expect(await again('named')).toBe(undefined);
});
