/** Which backups leave by which rules. Each archive is written as `day name < base`, newest first. */
import { expect, test } from 'vitest';
import type { MirrorBlob } from '../../../src/client/mirror/hub.ts';
import { chainOf } from '../../../src/client/mirror/plan.ts';
import { type Completeness, planPrune } from '../../../src/client/mirror/prune.ts';
import { limits } from '../../../src/limits/service.ts';
import { removalRefused } from '../../../src/mirror/removal/decide.ts';
import type { KeepRules } from '../../../src/time/retention.ts';
import { randomOf } from '../../support/random.ts';
import { seed } from '../../support/seed.ts';

/** `?`: of unknown completeness; `…`: a partial upload; `!`: damaged; `@label`; `#`: a plain archive. */
function parsed(text: string): MirrorBlob & { readonly is: Completeness } {
  const [own = '', base] = text.split(' < ');
  const [day = '', marked = ''] = own.split(' ');
  const [name = '', label = 'main'] = marked.replace(/[?…!#]/g, '').split('@');
  return {
    commit_sha: `c${name}`,
    sha256: name,
    byte_size: 1,
    uploaded_at: `2026-03-${day.padStart(2, '0')}T12:00:00.000Z`,
    repository_id: 'r',
    repository_label: label,
    base_sha256: base ?? null,
    archive_kind: marked.includes('#') ? 'tree' : 'repository',
    ...(marked.includes('!') ? { quarantined: true } : {}),
    is: marked.includes('?') ? 'unknown' : marked.includes('…') ? 'partial' : 'complete',
  };
}

const CHAINS = ['9 f < e', '8 e', '7 d < c', '6 c < b', '5 b < a', '4 a'];

test.each<[what: string, archives: readonly string[], rules: KeepRules, leaving: string]>([
  ['the newest with its base', CHAINS, { last: 1 }, 'd c b a'],
  ['an increment keeps its chain', CHAINS, { last: 3 }, ''],
  ['days keep their chains', CHAINS, { daily: 2 }, 'd c b a'],
  ['a week', ['9 c', '8 b', '2 a'], { weekly: 1 }, 'b a'],
  ['two weeks', ['9 c', '8 b', '2 a'], { weekly: 2 }, 'a'],
  ['a partial upload in the middle stands for no day', ['3 c', '2 b…', '1 a'], { daily: 2 }, 'b'],
  ['an upload under way stays, and the last complete one too', ['3 c… < b', '3 b…', '2 a'], { last: 1 }, ''],
  ['only partial uploads stay', ['2 b…', '1 a…'], { last: 1 }, ''],
  ['a damaged base makes no whole backup', ['3 c < b', '2 b!', '1 a'], { last: 1 }, ''],
  ['what cannot be read stays with its base', ['3 c', '2 b? < a', '1 a?'], { last: 1 }, ''],
  ['forks are kept apart', ['4 d@fork', '3 c', '2 b@fork', '1 a'], { last: 1 }, 'b a'],
  ['plain archives are kept apart', ['4 d#', '3 c', '2 b#', '1 a'], { last: 1 }, 'b a'],
  ['a chain over two labels stays whole', ['3 c@fork < b', '2 b', '1 a'], { last: 1 }, 'a'],
])('[MIR-28] %s', (_, archives, rules, leaving) => {
  const blobs = archives.map(parsed);
  const plan = planPrune(blobs, rules, (blob) => (blob as ReturnType<typeof parsed>).is);
  expect(plan.leaving.map(({ sha256 }) => sha256).join(' ')).toBe(leaving);
  expect(plan.kept.length + plan.leaving.length).toBe(blobs.length);
});

test(`[MIR-28] whatever was uploaded, what stays can be restored, and the hub accepts each request of a removal (seed ${seed})`, () => {
  const random = randomOf(seed);
  for (let round = 0; round < 60; round += 1) {
    const blobs: MirrorBlob[] = [];
    const count = 1 + Math.floor(random() * 260);
    for (let i = 0; i < count; i += 1) {
      const base = random() < 0.8 ? blobs[Math.floor(random() * Math.min(4, blobs.length))] : undefined;
      const day = 1 + Math.floor((i / count) * 28);
      const flag = random() < 0.1 ? '…' : random() < 0.05 ? '!' : '';
      blobs.unshift(parsed(`${day} ${i}${flag}${base === undefined ? '' : ` < ${base.sha256}`}`));
    }
    const rules = { last: 1 + Math.floor(random() * 3), daily: Math.floor(random() * 9) };
    const { kept, leaving } = planPrune(blobs, rules, (blob) => (blob as ReturnType<typeof parsed>).is);
    for (const blob of kept) {
      if (chainOf(blobs, blob) !== undefined) expect(chainOf(kept, blob)).toEqual(chainOf(blobs, blob));
    }
    let left = blobs.map((blob, index) => ({
      commitSha: blob.commit_sha,
      sha256: blob.sha256,
      sequence: blobs.length - index,
      group: 'r',
      base: blob.base_sha256 ?? null,
    }));
    for (let at = 0; at < leaving.length; at += limits.removedArchivesMax) {
      const some = new Set(leaving.slice(at, at + limits.removedArchivesMax).map(({ sha256 }) => sha256));
      const going = left.filter(({ sha256 }) => some.has(sha256));
      expect(removalRefused(left, going)).toBeUndefined();
      left = left.filter(({ sha256 }) => !some.has(sha256));
    }
  }
});
