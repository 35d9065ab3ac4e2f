/**
 * Lists what a package is made of, as CycloneDX 1.5 (ECMA-424): every production dependency of a lock file, those for other
 * machines as well. Not by `npm sbom`: without development dependencies it leaves out what those need too, such as zod. Pure.
 */
import type { Locked } from './native-packages.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The list as text. `packages`: those of a lock file of version 3. */
export function billOfMaterials(manifest: Manifest, packages: Readonly<Record<string, Locked>>): string {
  const parts = Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path, locked]) => component(path, locked));
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', ...named(manifest) } },
    // One package can be installed at two places.
    components: [...new Map(parts.map((part) => [part['bom-ref'], part])).values()],
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

function component(path: string, locked: Locked) {
  const name = locked.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { integrity, optional } = locked;
  const sha512 = /^sha512-(\S+)/.exec(integrity)?.[1];
  return {
    type: 'library',
    ...named({ ...locked, name }),
    scope: optional === true ? 'optional' : 'required',
    ...(sha512 && { hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }] }),
  };
}

/** A package URL has its scope encoded: `pkg:npm/%40scope/name@1.0.0`. */
const named = ({ name, version, license }: Manifest) => ({
  'bom-ref': `${name}@${version}`,
  name,
  version,
  purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  ...(license && { licenses: [{ expression: license }] }),
});
