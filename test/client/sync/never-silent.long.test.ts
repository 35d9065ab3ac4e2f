/**
 * Nothing is silent: whatever cannot be synced, in any company, is named by a sync, by the next sync, by `status` and by a watch,
 * each with an exit code that says so. Troubles of both sides are drawn; a folder without any is up to date. A watch that cannot
 * sync them asks no more and no more often for it.
 */
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { account } from '../../support/mirror.ts';
import { plainly } from '../../support/plainly.ts';
import { type Relay, startRelay } from '../../support/relay.ts';
import { seed } from '../../support/seed.ts';
import { type SyncedFolder, syncedPair, until } from '../../support/synced-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const MiB = 1024 * 1024;
const QUOTA_BYTES = 4 * MiB;
const HISTORIES = 6;
/** A watch that has told everything stands for so long; each trouble may cost it some requests, and none goes round and round. */
const STANDS_MS = 3000;
const REQUESTS_MAX = 60;
/** Longer than a path of the hub may be, and each of its names as long as a disk takes. */
const DEEP = Array.from({ length: 5 }, () => 'd'.repeat(250)).join('/');

const hub = useHub({ env: { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) } });
let key: string;
let relay: Relay;
beforeAll(async () => {
  ({ mcp_key: key } = await account(hub));
  relay = await startRelay(hub);
});
afterAll(() => relay.close());

interface Trouble {
  /** What has to stand in whatever a command says of it. */
  readonly named: RegExp;
  /** Brings it about: `b` is the folder that is asked, `a` another device. */
  readonly make: (b: SyncedFolder, a: SyncedFolder) => void;
}

const MANY = Array.from({ length: 40 }, (_, at) => `many/${at}`);

/** By what a person would call it. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'a name that the hub refuses': { named: /bad\\name/, make: (b) => b.write('bad\\name', 'x\n') },
  'a path that is too long': { named: /d{250}/, make: (b) => b.write(`${DEEP}/x`, 'x\n') },
  'a name in other bytes than UTF-8': {
    named: /latin-/,
    make: (b) => writeFileSync(Buffer.from(`${b.folder}/latin-\xe9`, 'latin1'), 'x\n'),
  },
  'a file above the limit': {
    named: /large/,
    make: (b) => {
      b.write('large', '');
      truncateSync(b.at('large'), 2 * 1024 * MiB + 1);
    },
  },
  'no room on the hub': { named: /over-quota/, make: (b) => b.write('over-quota', Buffer.alloc(QUOTA_BYTES + 1, 1)) },
  'a file that cannot be read': { named: /closed\.md/, make: (b) => chmodSync(b.at('closed.md'), 0) },
  'a new file that cannot be read': {
    named: /secret/,
    make(b) {
      b.write('secret', 'x\n');
      chmodSync(b.at('secret'), 0);
    },
  },
  'a folder that cannot be written': {
    named: /fixed\/z/,
    make(b, a) {
      a.write('fixed/z', '2\n');
      chmodSync(b.at('fixed'), 0o555);
    },
  },
  'a link in the place of a file': {
    named: /linked/,
    make(b) {
      b.remove('linked');
      symlinkSync('/etc/hostname', b.at('linked'));
    },
  },
  'damage on the way': {
    named: /damaged\.md/,
    make: (_, a) => a.write('damaged.md', 'whole\n'),
  },
  'a name of the hub that belongs to git': {
    named: /\.git\. \/x/,
    make: (_, a) => a.write('PLACEHOLDER.md', 'x\n'),
  },
  'changed on both sides': {
    named: /both\.md/,
    make(b, a) {
      a.write('both.md', 'theirs\n');
      b.write('both.md', 'ours\n');
    },
  },
};

function encrypt(folder: SyncedFolder): void {
  for (const path of MANY) folder.write(path, 'encrypted\n');
}

/** What the guard holds back: only one of them is most of the folder at a time. */
const BURSTS: Readonly<Record<string, Trouble>> = {
  'most files gone': { named: /(files are|file is) gone|--allow-deletes/, make: (b) => MANY.forEach(b.remove) },
  'most files rewritten': {
    named: /--allow-rewrites/,
    make: encrypt,
  },
  'most files rewritten there': {
    named: /--allow-rewrites/,
    make: (_, a) => encrypt(a),
  },
};
const KNOWN = { ...TROUBLES, ...BURSTS };

const START = {
  ...Object.fromEntries(MANY.map((path) => [path, `${path}\n`])),
  'closed.md': 'x\n',
  'fixed/z': '1\n',
  linked: 'x\n',
  'both.md': 'x\n',
};

const some = fc
  .tuple(fc.subarray(Object.keys(TROUBLES)), fc.subarray(Object.keys(BURSTS), { maxLength: 1 }))
  .map(([singly, burst]) => [...singly, ...burst]);

/** What a broken line or a hostile hub makes of a pull. */
const spoilt = (answer: string) =>
  answer.replaceAll('"whole\\n"', '"other\\n"').replaceAll('PLACEHOLDER.md', '.git. /x');

test(`[SYN-24, SYN-26] nothing that cannot be synced is silent, alone or among others (FC_SEED=${seed})`, async () => {
  await fc.assert(fc.asyncProperty(some, isTold), {
    seed,
    numRuns: HISTORIES,
    examples: [[[...Object.keys(TROUBLES), 'most files gone']], [[]]],
    endOnFailure: true,
  });
}, 600_000);

async function isTold(names: readonly string[]): Promise<void> {
  const [a, b] = await syncedPair(hub, key, START, { through: relay });
  mkdirSync(b.at('empty'));
  const troubles = names.flatMap((name) => KNOWN[name] ?? []);
  for (const { make } of troubles) make(b, a);
  expect(await a.sync('--allow-rewrites')).toMatchObject({ code: 0 });
  relay.rules = { rewrites: (answer, { body }) => (/"sync_(pull|list)"/.test(body) ? spoilt(answer) : answer) };
  const isConflict = names.includes('changed on both sides');
  const wanted = isConflict ? 3 : Math.min(troubles.length, 1);
  const check = (what: string, code: number | null, said: string) => {
    const silent = names.filter((name) => KNOWN[name]?.named.test(said) !== true);
    expect({ what, code, silent, said }).toMatchObject({ what, code: wanted, silent: [] });
  };
  for (const what of ['sync', 'sync again', 'status']) {
    const { code, stdout, stderr } = await b.syncUnder(plainly, ...(what === 'status' ? [what] : []));
    check(what, code, `${stdout}${stderr}`);
    expect(stdout.includes('up to date')).toBe(troubles.length === 0);
  }
  const before = relay.requests.length;
  const watch = b.watch({}, { wrapper: plainly });
  try {
    await until(() => watch.output().includes('watching'), watch.output);
    await until(() => troubles.every(({ named }) => named.test(watch.output())), watch.output);
    await sleep(STANDS_MS);
    const asked = relay.requests.slice(before).map(({ body }) => body.slice(0, 200));
    expect(asked.slice(REQUESTS_MAX)).toEqual([]);
    // The watch itself is asked now.
    const { code, stdout, stderr } = await b.syncUnder(plainly, 'status');
    expect(stdout).toContain(`process ${watch.pid}`);
    check('status of the watch', code, `${stdout}${stderr}`);
  } finally {
    // A watch that ends says what is left.
    expect(await watch.stop()).toBe(wanted);
  }
}
