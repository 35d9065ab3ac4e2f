/**
 * Makes the other files of a release from the npm package in a folder: Debian packages, single executables, the client in one
 * file, the recipe of a container, the notes, what the program is made of (SBOM), and the checksums of all.
 *
 * usage: npm run release [-- 'NAME <MAIL>']   (makes the npm package in release/ first; NAME answers for the Debian packages)
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { newestNews } from '../../common/manual.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { makeDebianPackage } from './debian.ts';
import { makeExecutable } from './executable.ts';
import { CPUS, installDependencies, lockedPackages, type Machine, unpack } from './program.ts';

const CHECKSUMS = 'SHA256SUMS';
/** What is copied from the package as it is. */
const COPIED = [
  'dist/src/web/client/cairn.mjs',
  'src/manual/deploy/container/Containerfile',
  'src/manual/deploy/container/compose.yaml',
];

/** Fills a folder that has one npm package and nothing else. */
function makeRelease(folder: string, maintainer: string): void {
  const [npmPackage, ...others] = readdirSync(folder);
  if (npmPackage === undefined || !/^cairn-.+\.tgz$/.test(npmPackage) || others.length > 0)
    throw new Error(`${folder} must have one npm package and nothing else`);
  const work = mkdtempSync(join(tmpdir(), 'cairn-release-'));
  try {
    const program = join(work, 'program');
    unpack(join(folder, npmPackage), program);
    const manifest = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    writeFileSync(
      join(folder, npmPackage.replace(/\.tgz$/, '.cdx.json')),
      billOfMaterials(manifest, lockedPackages(program)),
    );
    installDependencies(program);
    for (const machine of Object.keys(CPUS) as Machine[]) {
      makeDebianPackage(program, folder, { machine, maintainer });
      makeExecutable(program, folder, machine, `cairn-${manifest.version}`);
    }
    for (const path of COPIED) cpSync(join(program, path), join(folder, basename(path)));
    writeFileSync(join(folder, 'NOTES.md'), `${newestNews()}\n`);
    writeFileSync(join(folder, CHECKSUMS), checksums(folder));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** In the form that `sha256sum --check` reads. */
const checksums = (folder: string): string =>
  readdirSync(folder)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');

const [folder, maintainer = 'The operator of this hub <root@localhost>'] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: release.js FOLDER [MAINTAINER]\n');
  process.exitCode = 2;
} else {
  makeRelease(resolve(folder), maintainer);
  process.stdout.write(readFileSync(join(folder, CHECKSUMS), 'utf8'));
  const notes = join(folder, 'NOTES.md');
  const [, version = ''] = /^## (\S+)/.exec(readFileSync(notes, 'utf8')) ?? [];
  process.stdout.write(`\nnext: git tag --annotate v${version} --cleanup=verbatim --file ${notes}\n`);
}
