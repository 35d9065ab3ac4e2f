/** Reads the version of the service from package.json. */
import { existsSync, readFileSync } from 'node:fs';

/** Two folders up from `src/common`, three from `dist/src/common`. */
const places = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));
const place = places.find((url) => existsSync(url));
if (place === undefined) throw new Error('package.json is not where it was built from');

const manifest = JSON.parse(readFileSync(place, 'utf8')) as { readonly version: string };

export const version: string = manifest.version;
