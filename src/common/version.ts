/** Reads the version of the service from package.json, and the commit from what the build wrote. */
import { existsSync, readFileSync } from 'node:fs';

/** Two folders up from `src/common`, three from `dist/src/common`. */
const places = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));
const place = places.find((url) => existsSync(url));
if (place === undefined) throw new Error('package.json is not where it was built from');

const manifest = JSON.parse(readFileSync(place, 'utf8')) as { readonly version: string };

export const version: string = manifest.version;

/** What the build wrote beside the compiled files. */
const built = new URL('../../commit.txt', import.meta.url);

/** The commit that it was built from, 12 hex characters; undefined: it was built outside of a git checkout. */
export const commit: string | undefined = (existsSync(built) && readFileSync(built, 'utf8').trim()) || undefined;

/** For people: `1.0.0 (af5c21e3d9ab)`. */
export const versionText: string = commit === undefined ? version : `${version} (${commit})`;
