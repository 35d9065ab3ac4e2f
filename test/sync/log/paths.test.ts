/** Paths, through the front door: which are refused and why, and which two are the same. */
import { beforeAll, expect, test } from 'vitest';
import { type Device, newDevice, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ verified: true });
let device: Device;

beforeAll(async () => {
  device = await newDevice(hub);
});

/** By what is wrong with them: a word of the sentence, and paths. */
const refused: Readonly<Record<string, readonly string[]>> = {
  empty: ['', 'a//b', 'a/', 'a/b/'],
  absolute: ['/', '/etc/passwd', '//server/share'],
  backslash: ['\\', 'a\\b', '..\\a', '\\\\server\\share'],
  'dots or spaces': ['.', '..', 'a/..', '../a', 'a/./b', './a', 'a/../../b', ' ', 'a/.. /b', '...'],
  control: [
    'a\u0000b',
    'a\nb',
    'a\u007f',
    'a\u0085',
    'a\u202eb',
    'a\u2066b',
    'a\u200bb',
    'a\u200db',
    '\ufeffa',
    'a\u2028b',
    'a\u00adb',
    'a\u3164',
    'a\uffff',
    '\u{10ffff}',
    '.g\u200cit/config',
    'a\u{e0041}',
  ],
  surrogate: ['a\ud800', '\udc00b', 'a\udc00\ud800'],
  '\\.git': [
    '.git',
    '.git/config',
    'a/.git/hooks/pre-commit',
    '.GIT',
    '.Git/x',
    'git~1',
    'GIT~1/config',
    'git~23',
    '.gıt',
    '.ｇit',
    '.git.',
    '.git /x',
    '.git::$INDEX_ALLOCATION',
  ],
  '1024 bytes': [`${'a/'.repeat(512)}b`, `${'é/'.repeat(341)}éé`, `${'\u0587/'.repeat(300)}x`],
  '255 bytes': ['a'.repeat(256), `a/${'é'.repeat(128)}`],
};

test('[SYN-15] joiners are taken where they spell an emoji or a word, and do not make another name', async () => {
  const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
  const heart = '\u2764\ufe0f\u200d\u{1f525}';
  const persian = '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645';
  const hindi = '\u0915\u094d\u200d\u0937';
  for (const name of [family, heart, persian, hindi]) {
    const pushed = await device.push(`joined/${name}.md`, name);
    expect(pushed.path).toBe(`joined/${name}.md`);
    const twin = name.replace(/[\u200c\u200d]/g, '');
    const { data } = await device.refusedPush(`joined/${twin}.md`, 'x');
    expect(data['existing_path']).toBe(`joined/${name}.md`);
  }
  for (const name of [
    `${family}\u200d`,
    `\u200d${family}`,
    `x\u200d${family}`,
    `${persian}\u200c`,
    `${persian}\u200cx`,
  ]) {
    expect((await device.refusedPush(name, 'x')).code).toBe(-32602);
  }
});

test('[SYN-15] each refused path is refused with its reason and the field', async () => {
  for (const [reason, paths] of Object.entries(refused)) {
    for (const path of paths) {
      const { code, message, data } = await device.refusedPush(path, 'x');
      expect([path, code, data['field']]).toEqual([path, -32602, 'path']);
      expect([path, message]).toEqual([path, expect.stringMatching(new RegExp(reason))]);
    }
  }
});

const taken = [
  'a',
  '.gitignore',
  '.github/workflows/x.yml',
  'git',
  'a.git',
  'console.txt',
  'com10',
  'nul1',
  'ünïcode/日本語/😀.md',
  '❤\ufe0f.md',
  ' leading',
  '...a',
  'a b/c.d',
  'percent%2e%2e%2fa',
  `${'z/'.repeat(511)}zz`,
  'a'.repeat(255),
  'é'.repeat(127),
  '-',
  '~',
  '#x#',
  '10:30.md',
  'What?.md',
  '"a" <b> | *.md',
  'Makefile.',
  'end ',
  'a./b',
  'CON',
  'lpt0.txt',
];

test('[SYN-15] ordinary paths are taken as they are', async () => {
  for (const path of taken) expect(await device.push(path, path)).toMatchObject({ path });
});

test('[SYN-15] a path is kept in NFC, and both forms mean the same file', async () => {
  const decomposed = 'cafe\u0301/re\u0301sume\u0301.md';
  const made = await device.push(decomposed, 'one');
  expect(made.path).toBe('caf\u00e9/r\u00e9sum\u00e9.md');
  expect(await device.push('caf\u00e9/r\u00e9sum\u00e9.md', 'two')).toMatchObject({
    status: 'updated',
    path: made.path,
  });
});

test('[SYN-15] a path equal to another but for case is refused, naming the other', async () => {
  await device.push('Docs/Straße.md', 'one');
  for (const twin of ['docs/straße.md', 'DOCS/STRASSE.MD', 'Docs/STRASSE.md']) {
    const refusal = await device.refusedPush(twin, 'two');
    expect(refusal).toMatchObject({ code: -32602, data: { field: 'path', existing_path: 'Docs/Straße.md' } });
    expect(refusal.message).toContain('Docs/Straße.md');
  }
});

test('[SYN-15] a file where a folder is, or below a file, is refused, until the other is gone', async () => {
  await device.push('tree/branch/leaf', 'x');
  for (const path of ['tree', 'tree/branch', 'TREE/Branch', 'tree/branch/leaf/vein']) {
    expect(await device.refusedPush(path, 'y')).toMatchObject({ code: -32602, data: { field: 'path' } });
  }
  await device.result('sync_push', device.deleteOf('tree/branch/leaf', { base_sha: sha256Of('x') }));
  expect(await device.push('tree/branch', 'y')).toMatchObject({ status: 'created' });
  expect(await device.refusedPush('tree', 'z')).toMatchObject({ data: { field: 'path' } });
});
