/** Which packages of a lock file are for one kind of machine. Pure. */

export interface Locked {
  readonly version: string;
  readonly integrity: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: string | readonly string[];
  /** A tool of the checkout, which no package has. */
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  /** Of a package that is installed under another name. */
  readonly name?: string;
  readonly license?: string;
}

/** Divides the packages for one kind of machine into those that a Linux with glibc needs, and the folders of all others. Pure. */
export function nativePackages(
  packages: Readonly<Record<string, Locked>>,
  cpu: string,
): { readonly needed: readonly (readonly [path: string, Locked])[]; readonly foreign: readonly string[] } {
  const native = Object.entries(packages).filter(([, { cpu: cpus, dev }]) => cpus !== undefined && dev !== true);
  const isNeeded = ({ os, cpu: cpus, libc }: Locked) =>
    os?.includes('linux') === true && cpus?.includes(cpu) === true && (libc === undefined || libc.includes('glibc'));
  return {
    needed: native.filter(([, one]) => isNeeded(one)),
    foreign: native.filter(([, one]) => !isNeeded(one)).map(([path]) => path),
  };
}
