/** Owns the version that the service tells of itself: the one of package.json. */
import { readFileSync } from 'node:fs';

/** From `dist/src` the project's own package.json is two folders up. */
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const version: string = manifest.version;
