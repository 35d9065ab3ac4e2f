/** Client commands on a machine where no library of the service can be loaded; cairn serve where its HTTP library has no binary. */
import { expect, test } from 'vitest';
import { noBuildSentence } from '../../src/http/library/uws.ts';
import { runCairn } from '../support/hub.ts';
import { refusedStart } from '../support/refused-start.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const preload = (code: string) => `--import data:text/javascript,${encodeURIComponent(code)}`;
const SERVICE_LIBRARIES = ['uWebSockets.js', 'lmdb', 'piscina', '@node-rs/argon2'];
const BLOCKED = 'the test blocks the library';
const resolveHook = `export const resolve = (name, context, next) => {
  if (${JSON.stringify(SERVICE_LIBRARIES)}.includes(name)) throw new Error('${BLOCKED} ' + name);
  return next(name, context);
};`;
/** Throws what Node.js throws for a binary that is not installed, for both builds of the HTTP library. */
const NO_BINARY = `import Module from 'node:module';
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (/^@uwsjs|uws_.*\\.node$/.test(name)) throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: 'MODULE_NOT_FOUND' });
    return load(name, ...rest);
  };`;
const withoutBinary = preload(NO_BINARY);
/** Throws when a library of the service is imported. */
const withoutLibraries = preload(
  `${NO_BINARY}
  Module.register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(resolveHook)}));`,
);

const UNREACHABLE = { CAIRN_SERVER: 'http://127.0.0.1:9', CAIRN_KEY: '0'.repeat(64) };
const run = (args: readonly string[]) =>
  runCairn(args, { ...UNREACHABLE, XDG_CONFIG_HOME: temporaryFolder(), NODE_OPTIONS: withoutLibraries });

test('[OPS-15] the help, and that of every client command, loads no library of the service', async () => {
  const { code, stdout, stderr } = await run(['help']);
  expect([code, stderr]).toEqual([0, '']);
  const [, clients = ''] = stdout.split('\n\n');
  const names = [...clients.matchAll(/^ {2}cairn (\S+(?: \S+)?) {2,}/gm)].map(([, name = '']) => name);
  expect(names).toEqual(expect.arrayContaining(['login', 'whoami', 'backups push', 'sync', 'tasks add', 'call']));
  // The commands of one word are one module.
  const oneOfEach = new Map([...names, 'completion'].map((name) => [name.split(' ')[0], name]));
  const helps = await Promise.all([...oneOfEach.values()].map((name) => run([...name.split(' '), '--help'])));
  for (const help of helps) expect([help.code, help.stderr]).toEqual([0, '']);
}, 120_000);

test.each([
  [['login'], 4],
  [['whoami'], 4],
  [['backups', 'list'], 4],
  [['sync', 'status', '--folder', temporaryFolder(), '--vault', 'notes'], 4],
  [['tasks'], 4],
  [['tasks', 'add', 'water the plants'], 4],
  [['call', 'list_tasks'], 4],
  [['completion', 'bash'], 0],
  [['--version'], 0],
  [['taks'], 2],
])('[OPS-15] cairn %j runs without the libraries of the service', async (args, expected) => {
  const { code, stderr } = await run(args);
  expect(stderr).not.toContain(BLOCKED);
  expect(code, stderr).toBe(expected);
});

test('[OPS-15] cairn serve does need the libraries that this test blocks', async () => {
  const { code, stderr } = await run(['serve']);
  expect(code).toBe(1);
  expect(stderr).toContain('the HTTP library has no binary');
});

test('[OPS-15] where the HTTP library has no binary, cairn serve names the versions of Node.js that work', async () => {
  const { code, stdout, stderr } = await refusedStart({ NODE_OPTIONS: withoutBinary });
  expect([code, stdout]).toEqual([1, '']);
  const { version, platform, arch } = process;
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  expect(stderr).toBe(`cairn: ${noBuildSentence(version, platform, arch, header.glibcVersionRuntime)}\n`);
});
