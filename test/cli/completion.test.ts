/** The completion scripts in the shells that they are for, typed at a terminal as a person types. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, runCairn } from '../support/hub.ts';
import { account } from '../support/mirror.ts';
import { succeeds } from '../support/succeeds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
const CACHE = temporaryFolder();
const KEPT = join(CACHE, 'cairn/completion.json');
/** An account with things to complete, and a `cairn` in the path of shells. */
let signedIn: Record<string, string>;

beforeAll(async () => {
  const { mcp_key } = await account(hub);
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'cairn'), `#!/bin/sh\nexec '${process.execPath}' '${CAIRN}' "$@"\n`, { mode: 0o755 });
  signedIn = {
    CAIRN_SERVER: hub.url,
    CAIRN_KEY: mcp_key,
    XDG_CACHE_HOME: CACHE,
    XDG_CONFIG_HOME: folder,
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  const notes = join(folder, 'notes');
  mkdirSync(join(notes, 'talks'), { recursive: true });
  for (const name of ['today.md', 'talks/a talk.md', 'talks/b.md']) writeFileSync(join(notes, name), 'text');
  for (const args of [
    ['import', notes, '--from', 'markdown', '--vault', 'My notes'],
    ['tasks', 'add', 'Renew the certificate'],
    ['call', 'create_category', '--name=Operations'],
    ['docs', 'put', join(notes, 'today.md'), '--title', "Anna's rules"],
  ]) {
    expect([args, (await runCairn(args, signedIn)).code]).toEqual([args, 0]);
  }
});

/** What `cairn __complete` offers, asked again when the hub was slower than a tab waits. */
async function offers(...words: string[]): Promise<string> {
  const { stdout } = await runCairn(['__complete', ...words], signedIn);
  if (stdout.split('\n').length > 2) return stdout;
  rmSync(KEPT, { force: true });
  return await offers(...words);
}

const has = (program: string): boolean => succeeds(program, '--version');

/** How each shell is started without the settings of whoever runs the test, and how `cairn` shows what it was called with. */
const SHELLS = [
  { shell: 'bash', start: 'bash --norc --noprofile -i', show: `cairn() { printf 'RAN<%s>\\n' "$*"; }` },
  { shell: 'zsh', start: 'zsh -f -i', show: `cairn() { printf 'RAN<%s>\\n' "$*" }` },
].map((one) => ({ ...one, isHere: has(one.shell) && has('script') }));
const hasFish = has('fish');

for (const { shell, isHere } of [...SHELLS, { shell: 'fish', isHere: hasFish }]) {
  if (!isHere) process.stderr.write(`the completion of ${shell} is not tried: ${shell} or script is not installed\n`);
}

let terminal: ChildProcess | undefined;
afterEach(() => {
  terminal?.kill('SIGKILL');
  terminal = undefined;
});

/** A shell at a terminal of its own, in a folder with one file, with the script loaded. */
async function openShell({ shell, start, show }: (typeof SHELLS)[number], more: Record<string, string> = {}) {
  const home = temporaryFolder();
  mkdirSync(join(home, '.config'));
  writeFileSync(join(home, 'some-file.txt'), '');
  writeFileSync(join(home, 'completion'), (await runCairn(['completion', shell], {})).stdout);
  const env = {
    ...cleanEnvironment(),
    HOME: home,
    TERM: 'xterm',
    XDG_CONFIG_HOME: join(home, '.config'),
    PS1: '> ',
    ...more,
  };
  const child = spawn('script', ['-qec', start, '/dev/null'], { cwd: home, env, stdio: ['pipe', 'pipe', 'inherit'] });
  terminal = child;
  let screen = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    for (const look of waiting) look();
  });
  const shown = (pattern: RegExp): Promise<string> =>
    new Promise((resolve) => {
      const look = () => {
        const found = pattern.exec(screen);
        if (found === null) return;
        waiting.delete(look);
        screen = screen.slice(found.index + found[0].length);
        resolve(found[1] ?? '');
      };
      waiting.add(look);
      look();
    });
  // A shell that ended says so by what it did not show.
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${show}\n. ./completion\ncairn ready\n`);
  await shown(/RAN<(ready)>/);
  return {
    /** Types a line with tabs and gives what `cairn` was then called with. */
    async type(line: string): Promise<string> {
      child.stdin.write(`${line}\n`);
      return (await shown(/RAN<([^>]*)>/)).trim();
    },
  };
}

for (const one of SHELLS) {
  test.runIf(one.isHere)(`[CLI-1] ${one.shell} completes commands, actions, options and file names`, async () => {
    const shell = await openShell(one);
    const type = (line: string) => shell.type(line);
    expect(await type('cairn backups\tpul\t--outp\t')).toBe('backups pull --output');
    expect(await type('cairn tas\t--tod\t')).toBe('tasks --today');
    expect(await type('cairn comple\t')).toBe('completion');
    // After an option with a value comes a file name.
    expect(await type('cairn backups pull --output some\t')).toBe('backups pull --output some-file.txt');
    expect(await type('cairn backup some\t')).toBe('backup some-file.txt');
    expect(await type('cairn sync --fold\t')).toBe('sync --folder');
    expect(await type('cairn sync stat\t--fold\t')).toBe('sync status --folder');
  });
}

test('[CLI-1] what is on the hub is offered, and kept for a moment', async () => {
  expect(await offers('tasks', 'done', '')).toBe('words\n1\tRenew the certificate\n');
  expect(await offers('tasks', 'edit', '1', '--category', '')).toBe('words\nOperations\n');
  expect(await offers('tasks', '--status', 'in')).toBe('words\nbacklog\ntodo\nin_progress\ndone\n');
  expect(await offers('sync', '--vault', '')).toBe('words\nMy notes\n');
  expect(await offers('sync', 'restore', '--vault', 'My notes', 't')).toBe('paths\ntalks/\ntoday.md\n');
  expect(await offers('sync', 'history', '--vault', 'My notes', 'talks/')).toBe('paths\ntalks/a talk.md\ntalks/b.md\n');
  expect(await offers('docs', 'show', '')).toContain("Anna's rules");
  expect(await offers('call', 'handoff_')).toContain('handoff_save\t');
  expect(await offers('import', 'x', '--from', '')).toContain('obsidian');
  expect(statSync(KEPT).mode & 0o777).toBe(0o600);
  expect(readFileSync(KEPT, 'utf8')).not.toContain(signedIn['CAIRN_KEY']);
});

test('[CLI-1] a tab is silent without a hub, without a sign-in and where nothing is known', async () => {
  const nowhere = { ...signedIn, CAIRN_SERVER: 'http://127.0.0.1:9', XDG_CACHE_HOME: temporaryFolder() };
  expect(await runCairn(['__complete', 'tasks', 'done', ''], nowhere)).toEqual({
    code: 0,
    stdout: 'words\n',
    stderr: '',
  });
  const { CAIRN_KEY: _key, ...signedOut } = signedIn;
  for (const [words, env] of [
    [['tasks', 'done', ''], signedOut],
    [['tasks', 'done', '--js'], signedIn],
    [['tasks', 'add', ''], signedIn],
    [['nonsense', ''], signedIn],
    [[], signedIn],
  ] as const) {
    expect(await runCairn(['__complete', ...words], env)).toEqual({ code: 0, stdout: '', stderr: '' });
  }
  expect(existsSync(join(nowhere.XDG_CACHE_HOME, 'cairn/completion.json'))).toBe(true);
});

for (const one of SHELLS) {
  test.runIf(one.isHere)(`[CLI-1] ${one.shell} completes what is on the hub`, async () => {
    await offers('tasks', 'done', '');
    const shell = await openShell(one, signedIn);
    expect(await shell.type('cairn tasks done \t')).toBe('tasks done 1');
    await offers('sync', '--vault', '');
    expect(await shell.type('cairn sync --vault My\t')).toBe('sync --vault My notes');
    await offers('sync', 'history', '--vault', 'My notes', 'talks/');
    expect(await shell.type('cairn sync history --vault My\\ notes talks/a\t')).toBe(
      'sync history --vault My notes talks/a talk.md',
    );
    await offers('docs', 'show', '');
    expect(await shell.type('cairn docs show An\t')).toBe("docs show Anna's rules");
    // Nothing of the kind is known: a file, as ever.
    expect(await shell.type('cairn sync history --vault Other some\t')).toContain('some-file.txt');
  });
}

test.runIf(hasFish)('[CLI-1] fish completes what is on the hub', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'completion'), (await runCairn(['completion', 'fish'], {})).stdout);
  const offered = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', 'source completion; complete -C $argv', line], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...cleanEnvironment(), ...signedIn, HOME: folder },
    });
  await offers('tasks', 'done', '');
  expect(offered('cairn tasks done ')).toBe('1\tRenew the certificate\n');
  await offers('sync', '--vault', '');
  expect(offered('cairn sync --vault My')).toBe('My notes\n');
});

test.runIf(hasFish)('[CLI-1] fish completes commands, actions, options and file names', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'some-file.txt'), '');
  writeFileSync(join(folder, 'completion'), (await runCairn(['completion', 'fish'], {})).stdout);
  // What a tab would offer, asked of the shell itself: it takes no keys before its terminal has answered it.
  const offered = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', 'source completion; complete -C $argv', line], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...cleanEnvironment(), HOME: folder },
    })
      .split('\n')
      .flatMap((text) => (text === '' ? [] : [text.split('\t')[0]]));
  expect(offered('cairn backup')).toEqual(expect.arrayContaining(['backup', 'backups']));
  expect(offered('cairn backups pul')).toEqual(['pull']);
  expect(offered('cairn backups pull --outp')).toEqual(['--output']);
  expect(offered('cairn backups pull --output some')).toEqual(['some-file.txt']);
  expect(offered('cairn backup some')).toEqual(['some-file.txt']);
  expect(offered('cairn sync status --fold')).toEqual(['--folder']);
  expect(offered('cairn key ').sort((a = '', b = '') => a.localeCompare(b))).toEqual(['create', 'list', 'revoke']);
});

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`[CLI-1] the completion of ${shell} has every command and option that the help lists`, async () => {
    const script = (await runCairn(['completion', shell], {})).stdout;
    const help = (await runCairn(['--help'], {})).stdout;
    const names = [...help.matchAll(/^ {2}cairn ((?:[a-z]+ )?[a-z]+) {2,}/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) expect(script).toMatch(new RegExp(`["']${name} ?\\*?["']? ?\\*?`));
    expect(script).toContain('--allow-deletes');
  });
}

test('[CLI-1] the completion of zsh also works as a file of its function path', async () => {
  if (!SHELLS[1]?.isHere) return;
  const folder = temporaryFolder();
  writeFileSync(join(folder, '_cairn'), (await runCairn(['completion', 'zsh'], {})).stdout);
  const script = `fpath=($1 $fpath); autoload -Uz compinit && compinit -D -u; print -r -- $_comps[cairn]`;
  const said = execFileSync('zsh', ['-f', '-c', script, 'zsh', folder], { encoding: 'utf8', env: cleanEnvironment() });
  expect(said.trim()).toBe('_cairn');
});
