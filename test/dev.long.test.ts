/** npm run dev on a copy of the sources: a saved file restarts the hub, a build error does not, Ctrl-C ends everything. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { cleanEnvironment, type LogLine } from './support/hub.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The sources, with the dependencies of this checkout. */
function copySources(): string {
  const folder = temporaryFolder();
  for (const name of ['package.json', 'tsconfig.json', '.dev', '.package', 'src', 'workers']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function startDev(folder: string) {
  const child = spawn(process.execPath, ['.dev/run.mjs'], {
    cwd: folder,
    env: cleanEnvironment({ CAIRN_PORT: '0', CAIRN_DATA: join(folder, 'data') }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  onTestFinished(() => {
    child.kill('SIGTERM');
  });
  /** The first line with these words after what earlier waits have read. */
  const next = async (words: string): Promise<string> => {
    for (;;) {
      const at = output.indexOf(words);
      const end = at < 0 ? -1 : output.indexOf('\n', at);
      if (end >= 0) {
        const line = output.slice(output.lastIndexOf('\n', at) + 1, end);
        output = output.slice(end + 1);
        return line;
      }
      await once(child.stdout, 'data');
    }
  };
  const listening = async () => JSON.parse(await next('"listening"')) as LogLine & { pid: number; port: number };
  return { child, next, listening };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('[OPS-16] npm run dev restarts the hub when a file is saved, keeps it over a build error, and ends on Ctrl-C', async () => {
  const folder = copySources();
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { dev: string } };
  expect(manifest.scripts.dev).toBe('node .dev/run.mjs');
  const { child, next, listening } = startDev(folder);
  const first = await listening();

  appendFileSync(join(folder, 'workers/merge.ts'), '\n');
  await next('dev: restarting the hub');
  // Graceful: the hub has ended by itself before the next one starts.
  await next('"stopped"');
  const second = await listening();
  expect(second.pid).not.toBe(first.pid);
  expect(isRunning(first.pid)).toBe(false);

  const file = join(folder, 'src/common/version.ts');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, `${good}\nexport const broken: number = 'text';\n`);
  await next('dev: the build failed; the hub of the last build keeps running');
  expect((await fetch(`http://127.0.0.1:${second.port}/health`)).status).toBe(200);
  expect(isRunning(second.pid)).toBe(true);

  writeFileSync(file, good);
  const third = await listening();
  expect(isRunning(second.pid)).toBe(false);
  expect(isRunning(third.pid)).toBe(true);

  child.kill('SIGINT');
  await next('"stopped"');
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
  expect(isRunning(third.pid)).toBe(false);
}, 600_000);
