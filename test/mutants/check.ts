/** Finds the mutants that the compiler refuses: all of them in one run, each as a file of its own. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './source.ts';

/** A text, and the path of the file that it is a mutant of. */
interface MutantText {
  readonly path: string;
  readonly text: string;
}

/** Returns the places, in the list of texts, of those that do not compile. */
export function refusedByCompiler(texts: readonly MutantText[]): Set<number> {
  // Below the root, so that packages are found.
  const folder = join(ROOT, 'dist', 'mutants');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  texts.forEach(({ path, text }, place) => {
    const home = join(ROOT, dirname(path));
    const absolute = text.replaceAll(
      /( from ')(\.[^']+)(')/g,
      (_, before, target, after) => before + join(home, target) + after,
    );
    writeFileSync(join(folder, `${place}.ts`), absolute);
  });
  const compilerOptions = { noEmit: true, allowImportingTsExtensions: true, rewriteRelativeImportExtensions: false };
  const settings = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'], exclude: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  // As long as a file cannot be parsed, the compiler says nothing of types.
  const unreadable = compiled(folder);
  for (const place of unreadable) rmSync(join(folder, `${place}.ts`));
  const refused = unreadable.size === 0 ? unreadable : compiled(folder);
  rmSync(folder, { recursive: true, force: true });
  return new Set([...unreadable, ...refused]);
}

/** The places of the files that the compiler complains about. */
function compiled(folder: string): Set<number> {
  const { stdout, error } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error !== undefined) throw error;
  return new Set([...stdout.matchAll(/^(\d+)\.ts\(/gm)].map(([, place]) => Number(place)));
}
