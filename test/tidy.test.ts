/** Holds the tree against its own rules: who imports whom, how long files are, and that every rule has a test. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CAPABILITIES = ['accounts', 'oauth', 'mirror', 'tasks', 'sync', 'documents', 'search'];
const SOURCE_LINES_MAX = 400;
const ROOM_FILES_MAX = 20;
const TEST_LINES_MAX = 500;
const MAP_LINES_MAX = 275;

/** Files that are longer, and rooms that hold more, than the numbers above say: path, reason. A number guides; a reason beats it. */
const LARGE: Readonly<Record<string, string>> = {
  'src/limits/service.ts': 'one table of numbers, in which a reader looks up a name',
  'src/web/assets/live.browser.js': 'its functions share the state of the open page, and scripts share nothing else',
};

/** Exported names that more than one file gives to different things, each with the reason. */
const SHARED_NAMES: Readonly<Record<string, string>> = {};

interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Imported packages by name, and files by path from the root. */
  readonly imports: readonly string[];
  /** Those of them that are loaded when it runs: not types alone. */
  readonly valueImports: readonly string[];
}

function filesOf(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => {
      const text = readFileSync(file, 'utf8');
      const found = [...text.matchAll(/^(?:import|export)([^;]*?)from '([^']+)'/gm)].map(
        ([, what = '', target = '']) => ({
          ofTypes: /^ (type |\{(\s*type \w+( as \w+)?,?)+\s*\} $)/.test(what),
          to: target.startsWith('.') ? relative(ROOT, join(dirname(file), target)) : target,
        }),
      );
      const imports = found.map(({ to }) => to);
      const valueImports = found.filter(({ ofTypes }) => !ofTypes).map(({ to }) => to);
      return { path: relative(ROOT, file), text, imports, valueImports };
    });
}

const source = [...filesOf('src'), ...filesOf('workers')];
const assets = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(css|js)$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((file) => ({ path: relative(ROOT, file), text: readFileSync(file, 'utf8') }));
const tests = filesOf('test');
const inFolder = (path: string, folders: readonly string[]) => folders.some((name) => path.startsWith(`src/${name}/`));

/** Files that break a rule, for a failure that names them. */
const offenders = (breaks: (file: SourceFile) => boolean) => source.filter(breaks).map((file) => file.path);

test('there is something to check', () => {
  expect(source.length).toBeGreaterThan(40);
  expect(tests.filter(({ path }) => starts(path)).length).toBeGreaterThan(40);
  expect(source.flatMap((file) => file.imports).length).toBeGreaterThan(100);
});

/** Rooms from the ground up: a room imports only rooms of the floors before its own, and no room beside it. */
const HOUSE = [
  ['common', 'limits', 'text', 'time'],
  ['fields', 'settings'],
  ['store', 'http', 'pool', 'client', 'mail'],
  ['actors', 'cache', 'live', 'ids', 'replication', 'config.ts'],
  ['quotas'],
  ['gateway', 'archive'],
  ['activity', 'audit'],
  CAPABILITIES,
  ['events'],
  ['undo'],
  ['web', 'control', 'agents'],
  ['transfer'],
  ['compose'],
  ['ops'],
  ['main.ts'],
  ['cli'],
];
const SYNC = [
  ['log'],
  ['contents', 'vaults', 'packs'],
  ['push', 'verify'],
  ['pull', 'compare', 'conflicts', 'history', 'portable'],
  ['devices', 'reading.ts'],
  ['service.ts'],
  ['tools'],
];
const DOCUMENTS = [
  ['records.ts', 'rules.ts'],
  ['kind.ts', 'texts.ts'],
  ['write.ts', 'note.ts', 'views.ts'],
  ['service.ts', 'things.ts', 'verify.ts', 'portable.ts', 'bin.ts'],
  ['dev-docs', 'handoffs', 'papers'],
];
const HTTP = [['library'], ['request', 'reply'], ['route', 'measure'], ['checks']];
const CLIENT = [
  ['client-error.ts', 'shown.ts', 'process-birth.ts'],
  ['proxy.ts'],
  [
    'private-file.ts',
    'settings.ts',
    'tunnel.ts',
    'pace.ts',
    'progress.ts',
    'next-command.ts',
    'tool-refused.ts',
    'spoken.ts',
  ],
  ['file-lock.ts', 'http.ts', 'patiently.ts'],
  ['staging.ts'],
  ['sign-in', 'mirror', 'spare-calls.ts'],
  ['tools.ts', 'mcp-bridge.ts'],
  ['sync'],
];
/** What touches the disk, then what is known, then decisions, then what carries them out. */
const CLIENT_SYNC = [
  ['folder', 'portion.ts', 'amount.ts', 'service'],
  ['base', 'remote-record.ts', 'large-queue.ts'],
  ['hub.ts', 'scan'],
  ['plan', 'replica.ts', 'vault-files.ts'],
  ['chunks'],
  ['round.ts'],
  ['run'],
  ['watch', 'cycle.ts', 'resolve.ts', 'status.ts'],
  ['merge-sides.ts'],
];
const WEB = [
  [
    'assets.ts',
    'capabilities.ts',
    'client-file.ts',
    'cookies.ts',
    'download-headers.ts',
    'next-path.ts',
    'notices.ts',
    'zone-format.ts',
  ],
  ['rendering', 'visit.ts'],
  ['ui.tsx'],
  ['fault-page.tsx', 'fields.tsx', 'forms', 'layout.tsx'],
  ['document.tsx', 'other-fields.tsx', 'problem.ts'],
  ['pages.ts'],
  ['board', 'documents', 'help', 'live-pages.ts', 'mirror', 'operator', 'search', 'sign-in', 'vaults'],
  ['activity'],
  ['home'],
  ['settings'],
  ['routes.ts'],
];
const GATEWAY = [
  ['hints.ts'],
  ['exact-id.ts', 'model-words.ts', 'session-id.ts', 'tool-traffic.ts', 'words.ts'],
  ['envelope.ts'],
  ['body', 'codes.ts'],
  ['dialect.ts'],
  ['offers'],
  ['asking', 'listening'],
  ['tool.ts'],
  ['faces.ts'],
  ['known-results.ts', 'listing.ts', 'registry.ts'],
  ['call.ts', 'openapi', 'records-text.ts', 'replies.ts'],
  ['methods.ts'],
  ['gateway.ts'],
  ['routes.ts'],
];
const STORE = [
  ['codec.ts'],
  ['data-file', 'failure.ts', 'owners.ts', 'room.ts', 'row-sums.ts'],
  ['table.ts'],
  ['rows.ts'],
  ['transaction.ts'],
  ['changes', 'held-rows.ts', 'intact.ts'],
  ['committer.ts'],
  ['group-commit.ts'],
  ['environment.ts', 'stats.ts', 'table-reads.ts'],
  ['logged'],
  ['store.ts'],
  ['checked-reader.ts', 'in-turns.ts', 'meta', 'remove-rows.ts', 'staged-bytes.ts'],
  ['sealing'],
  ['copies'],
];
const CLI = [
  ['compile-cache.ts', 'completion-asks.ts', 'meant.ts', 'output.ts', 'own-command.ts', 'process.ts', 'usage-error.ts'],
  ['command.ts', 'secret-input.ts', 'dates', 'demo'],
  ['completion.ts', 'help.ts', 'operator', 'user'],
  ['suggest', 'user-commands.ts'],
  ['commands.ts'],
  ['manual.ts', 'overview.ts', 'run.ts'],
  ['every-command.ts'],
  ['cairn.ts'],
];

/** Imports that run up, or from one room to another on its floor. A file that stands on no floor may import all of them. */
function climbs(prefix: string, floors: readonly (readonly string[])[]): string[] {
  const roomOf = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length).split('/')[0] : undefined);
  const floorOf = (room: string | undefined) => floors.findIndex((rooms) => rooms.includes(room ?? ''));
  return source.flatMap(({ path, imports }) => {
    const from = roomOf(path);
    if (floorOf(from) < 0) return [];
    return imports
      .filter((to) => roomOf(to) !== undefined && roomOf(to) !== from)
      .filter((to) => floorOf(roomOf(to)) < 0 || floorOf(roomOf(to)) >= floorOf(from))
      .map((to) => `${path} -> ${to}`);
  });
}

test.each([
  ['src/', HOUSE],
  ['src/sync/', SYNC],
  ['src/documents/', DOCUMENTS],
  ['src/http/', HTTP],
  ['src/client/', CLIENT],
  ['src/client/sync/', CLIENT_SYNC],
  ['src/web/', WEB],
  ['src/gateway/', GATEWAY],
  ['src/store/', STORE],
  ['src/cli/', CLI],
])('a room of %s imports no later one', (prefix, floors) => {
  const rooms = new Set(readdirSync(join(ROOT, prefix), { withFileTypes: true }).map(({ name }) => name));
  expect(floors.flat().filter((room) => !rooms.has(room))).toEqual([]);
  expect(climbs(prefix, floors)).toEqual([]);
});

test('every room of src/ has a floor, and beside the rooms lie only the first files to read', () => {
  const loose = ['ARCHITECTURE.md', 'DECISIONS.md', 'manual'];
  const rooms = readdirSync(join(ROOT, 'src')).filter((name) => !loose.includes(name));
  expect(rooms.filter((room) => !HOUSE.flat().includes(room))).toEqual([]);
});

test('the map is short, names every room, and no file that does not exist', () => {
  const map = readFileSync(join(ROOT, 'src/ARCHITECTURE.md'), 'utf8');
  const named = [...map.matchAll(/`([a-z/-]+\.tsx?)`/g)].map(([, file = '']) => file);
  expect(map.split('\n').length - 1).toBeLessThanOrEqual(MAP_LINES_MAX);
  expect(HOUSE.flat().filter((room) => !map.includes(room.endsWith('.ts') ? `\`${room}\`` : `\`${room}/\``))).toEqual(
    [],
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => !source.some(({ path }) => path.endsWith(`/${file}`)))).toEqual([]);
});

const lines = ({ text }: { text: string }) => text.split('\n').length - 1;

test('a room holds what a newcomer can overlook and a file what is read at once, or a reason says why not', () => {
  const rooms = new Map<string, number>();
  for (const { path } of [...source, ...assets]) rooms.set(dirname(path), (rooms.get(dirname(path)) ?? 0) + 1);
  const large = [
    ...[...rooms].filter(([, files]) => files > ROOM_FILES_MAX).map(([room]) => room),
    ...[...source, ...assets].filter((file) => lines(file) > SOURCE_LINES_MAX).map(({ path }) => path),
  ];
  expect(large.toSorted()).toEqual(Object.keys(LARGE).toSorted());
  expect(tests.filter((file) => lines(file) > TEST_LINES_MAX).map((file) => file.path)).toEqual([]);
});

test('an exported name means one thing in the tree, so that a search finds it, or a reason says why not', () => {
  const homes = new Map<string, Set<string>>();
  for (const { path, text } of source) {
    for (const [, name = ''] of text.matchAll(
      /^export (?:abstract |async )*(?:class|const|enum|function\*?|interface|let|type) (\w+)/gm,
    )) {
      homes.set(name, (homes.get(name) ?? new Set()).add(path));
    }
  }
  const shared = [...homes].filter(([name, { size }]) => size > 1 && !Object.hasOwn(SHARED_NAMES, name));
  expect(homes.size).toBeGreaterThan(1000);
  expect(shared.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
});

test('text knows nothing of Cairn', () => {
  expect(
    offenders(
      ({ path, imports }) => inFolder(path, ['text']) && imports.some((to) => !/^(src\/text\/|node:)/.test(to)),
    ),
  ).toEqual([]);
});

test('what only reads imports no actors', () => {
  const reads =
    /^src\/(sync\/(pull|compare|verify|packs\/vault-view)|tasks\/list|(documents\/)?[a-z-]+\/(list|lookup|pull|reader|verify)\.ts)/;
  expect(source.some(({ path }) => reads.test(path))).toBe(true);
  expect(
    offenders(({ path, imports }) => reads.test(path) && imports.some((to) => to.startsWith('src/actors/'))),
  ).toEqual([]);
});

test('no files import each other in a circle, types included', () => {
  const byPath = new Map(source.map((file) => [file.path, file.imports]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, way: readonly string[]) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' -> '));
    if (done.has(path) || way.includes(path)) return;
    for (const to of byPath.get(path) ?? []) if (byPath.has(to)) visit(to, [...way, path]);
    done.add(path);
  };
  for (const path of byPath.keys()) visit(path, []);
  expect(circles).toEqual([]);
});

/** What starts a process or a thread. */
const STARTS = ['node:child_process', 'node:cluster', 'node:worker_threads', 'piscina'];

/** Whether a file, or one that it imports by value, starts a process or a thread. */
function starts(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  const imports = [...tests, ...source].find((file) => file.path === path)?.valueImports ?? [];
  return imports.some((to) => STARTS.includes(to) || starts(to, seen));
}

test('a test starts a process exactly when its name does not say unit', () => {
  const named = tests.filter(({ path }) => /(?<!\.long)\.test\.ts$/.test(path) && path !== 'test/tidy.test.ts');
  expect(named.filter(({ path }) => starts(path) === path.endsWith('.unit.test.ts')).map(({ path }) => path)).toEqual(
    [],
  );
});

test('the client knows no service: it imports only itself, limits, the version, retention, words of counts, groups, lists of chunks and which names are one', () => {
  const allowed =
    /^(src\/(client\/.*|limits\/[a-z-]+\.ts|common\/version\.ts|text\/(chunk-list|count|fold-case|ext-value|grouped-by|unit-word)\.ts|time\/retention\.ts)|node:.*|[a-z-]+(\/[a-z]+)?)$/;
  expect(
    offenders(({ path, imports }) => inFolder(path, ['client']) && imports.some((to) => !allowed.test(to))),
  ).toEqual([]);
});

test('commands of users load no service', () => {
  const allowed =
    /^(src\/(cli\/[a-z-]+\.ts|cli\/(user|dates)\/.*|client\/.*|limits\/.*|common\/version\.ts|text\/(chunk-list|count|grouped-by|nearest|search-advice)\.ts|time\/retention\.ts)|node:.*|zod)$/;
  expect(
    offenders(({ path, imports }) => inFolder(path, ['cli/user']) && imports.some((to) => !allowed.test(to))),
  ).toEqual([]);
});

test('the plans of a synced folder are pure: they know no disk, no clock and no hub', () => {
  const plans = source.filter(({ path }) => path.startsWith('src/client/sync/plan/'));
  const pure =
    /^src\/(client\/(sync\/(plan\/.*|base\/state\.ts|folder\/path\.ts)|next-command\.ts)|limits\/.*|text\/.*)$/;
  expect(plans.length).toBeGreaterThan(5);
  expect(
    plans.flatMap(({ path, valueImports }) =>
      valueImports.filter((to) => !pure.test(to)).map((to) => `${path} -> ${to}`),
    ),
  ).toEqual([]);
  expect(plans.filter(({ text }) => /Date\.now\(|new Date\(\)|performance\.|node:/.test(text))).toEqual([]);
});

test('pure decisions import only limits, faults, callers, days, what can be seen, their own records and their fields, and zod', () => {
  const allowed =
    /^(src\/limits\/[a-z-]+\.ts|src\/common\/(fault|principal)\.ts|src\/text\/visible\.ts|src\/fields\/(expected-version|not-found)\.ts|src\/time\/[a-z-]+\.ts|src\/documents\/rules\.ts|src\/(documents\/)?[a-z-]+\/(records|fields|declared)\.ts|zod)$/;
  expect(
    offenders(({ path, imports }) => path.endsWith('/rules.ts') && imports.some((to) => !allowed.test(to))),
  ).toEqual([]);
});

test.each([
  ['uWebSockets.js', /^src\/http\/library\/uws\.ts$/],
  ['lmdb', /^src\/store\//],
  ['msgpackr', /^src\/store\//],
  ['piscina', /^(src\/pool|workers)\//],
  ['pino', /^src\/common\/log\.ts$/],
  ['preact', /^src\/web\//],
  ['preact-render-to-string', /^src\/web\/(document|rendering\/rows)\.tsx$/],
  ['prom-client', /^src\/ops\//],
])('only its own folder imports %s', (library, home) => {
  expect(offenders(({ path, imports }) => imports.includes(library) && !home.test(path))).toEqual([]);
  expect(source.some(({ imports }) => imports.includes(library))).toBe(true);
});

test('only the configuration reads the environment', () => {
  const allowed = ['src/config.ts', 'src/http/library/settings.ts', 'src/client/settings.ts'];
  expect(offenders(({ path, text }) => text.includes('process.env') && !allowed.includes(path))).toEqual([]);
});

test('no transaction of the data file is nested, and each that writes rows is begun in one place', () => {
  expect(offenders(({ text }) => text.includes('childTransaction('))).toEqual([]);
  const begins = ({ path, text }: { path: string; text: string }) =>
    text.includes('transactionAsync(') && path !== 'src/store/transaction.ts';
  expect(offenders(begins)).toEqual([]);
  expect(source.some(({ text }) => text.includes('transactionAsync('))).toBe(true);
});

test('only the composition root and the command line import the composition root', () => {
  expect(offenders(({ path, imports }) => imports.includes('src/main.ts') && !path.startsWith('src/cli/'))).toEqual([]);
});

test('a page is escaped by what renders it, and by nothing else', () => {
  const raw = /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|\sstyle=|\son[A-Z]\w+=/;
  // The two places that put HTML into a page as it is: what the renderer has sanitised, and rows that were rendered before.
  const isRenderer = (path: string) => /^src\/web\/rendering\/(renderer|rows)\.tsx$/.test(path);
  expect(offenders(({ path, text }) => path.startsWith('src/web/') && !isRenderer(path) && raw.test(text))).toEqual([]);
  const scripts = assets.filter(({ path }) => path.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(1);
  expect(scripts.filter(({ text }) => raw.test(text)).map(({ path }) => path)).toEqual([]);
});

test('every style and script beside a page is a part of what pages load, and no other file is', () => {
  const parts = [...readFileSync(join(ROOT, 'src/web/assets.ts'), 'utf8').matchAll(/'\.\/(\S+\.(?:css|js))'/g)];
  expect(parts.map(([, part]) => `src/web/${part}`).toSorted()).toEqual(assets.map(({ path }) => path).toSorted());
  // Another name could be the one that a TypeScript file beside it is compiled to.
  expect(assets.filter(({ path }) => !/(\.css|\.browser\.js)$/.test(path))).toEqual([]);
});

test('every file says what it owns before anything else', () => {
  expect(offenders(({ text }) => !/^(#![^\n]*\n)?\/\*\*/.test(text))).toEqual([]);
});

test('no sentence promises later work', () => {
  const promise = new RegExp(`\\b(?:${['TO', 'DO|FIX', 'ME|X', 'XX'].join('')})`);
  expect(offenders(({ text }) => promise.test(text))).toEqual([]);
});

/** A wait of vitest with a limit of its own: without one it is over after a second. */
const PATIENT = /timeout: |\bPATIENTLY\b/;

test('no test waits only a second for what comes later on a busy machine: vi.waitFor names its limit, expect.poll has a long one', () => {
  const names = ['For', 'Until'].map((what) => `vi.wait${what}(`);
  const hasty = tests.filter(({ text }) =>
    names.some((name) => callsOf(text, name).some((call) => !PATIENT.test(call))),
  );
  expect(hasty.map(({ path }) => path)).toEqual([]);
  expect(tests.some(({ text }) => callsOf(text, `${names[0]}`).length > 0)).toBe(true);
});

/** What a function is called with, for each of its calls in a text. */
function callsOf(text: string, name: string): string[] {
  const [, ...calls] = text.split(name);
  return calls.map((rest) => {
    let depth = 1;
    let end = 0;
    for (; end < rest.length && depth > 0; end += 1) depth += { '(': 1, ')': -1 }[rest.charAt(end)] ?? 0;
    return rest.slice(0, end);
  });
}

test('every rule of SPEC.md is proved by a test, and every proof names a rule of SPEC.md', () => {
  const spec = readFileSync(join(ROOT, 'test/SPEC.md'), 'utf8');
  const rules = new Set([...spec.matchAll(/^- \*\*([A-Z]+-\d+)\*\*/gm)].map((match) => match[1]));
  const titles = tests.flatMap(({ text }) => [...text.matchAll(/\[((?:[A-Z]+-\d+)(?:, ?[A-Z]+-\d+)*)\]/g)]);
  const proved = new Set(titles.flatMap((match) => (match[1] ?? '').split(/, ?/)));
  expect([...rules].filter((rule) => !proved.has(rule ?? ''))).toEqual([]);
  expect([...proved].filter((rule) => !rules.has(rule))).toEqual([]);
});
