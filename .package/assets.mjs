/** Copies what browsers load, and tsc leaves alone, from the sources of the pages to what is built of them. */
import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Copies styles, scripts and pictures below `src/web` of a project to the same places below `dist`. */
export function copyAssets(root) {
  const isLoaded = (file) => statSync(file).isDirectory() || /\.(css|svg|browser\.js)$/.test(file);
  cpSync(join(root, 'src/web'), join(root, 'dist/src/web'), { recursive: true, filter: isLoaded });
}
