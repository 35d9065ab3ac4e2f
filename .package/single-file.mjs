/**
 * Makes one file of the commands for backups and sign-in, for machines that have Node.js and nothing else. It stays readable,
 * and ends with the licences of the packages in it.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';

/** The folder of the package that a module is in; undefined for our own. */
const packageOf = (file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

/** Name, version and licence of a package, as text. */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
  return `${name} ${version}, ${license}${text}`.replaceAll('*/', '* /');
}

/** Writes `dist/src/web/client/cairn.mjs` of a project whose sources are compiled. */
export async function writeSingleFile(root) {
  const input = join(root, 'dist/src/cli/single-file.js');
  if (!existsSync(input)) return;
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // The file has no package.json beside it.
  const ownVersion = {
    name: 'own-version',
    load: (id) =>
      id.endsWith('/common/version.js') ? `export const version = ${JSON.stringify(version)};` : undefined,
  };
  const bundle = await rolldown({ input, platform: 'node', plugins: [ownVersion] });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  const [{ code, moduleIds }] = output;
  const folders = [...new Set(moduleIds.map(packageOf))].filter((folder) => folder !== undefined).toSorted();
  const licences = folders.map((folder) => `\n/*\n${licenceOf(folder)}\n*/\n`);
  const file = join(root, 'dist/src/web/client/cairn.mjs');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code + licences.join(''));
  chmodSync(file, 0o755);
}
