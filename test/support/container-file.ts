/** Carries out the steps of a Containerfile where no container program runs: each stage is a folder, entered with chroot. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Step, stepsOf } from './container-steps.ts';

export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Builds the image of the last stage. `context`: the folder of the build. `base` makes the folder of an image that a stage
 * begins from. Throws for an instruction that it does not know.
 */
export function buildImage(file: string, context: string, base: (image: string) => string): Image {
  const stages = new Map<string, string>();
  let image: Image = { root: '', env: {}, user: 'root', entrypoint: [], command: [], healthcheck: [] };
  for (const [instruction, rest] of stepsOf(readFileSync(file, 'utf8'))) {
    if (instruction === 'FROM') {
      const [from = '', , name = ''] = rest.split(' ');
      image = { root: base(from), env: {}, user: 'root', entrypoint: [], command: [], healthcheck: [] };
      stages.set(name, image.root);
    } else image = step(image, [instruction, rest], context, stages);
  }
  return image;
}

function step(image: Image, [instruction, rest]: Step, context: string, stages: ReadonlyMap<string, string>): Image {
  switch (instruction) {
    case 'ARG':
    case 'EXPOSE':
    case 'VOLUME':
    case 'STOPSIGNAL':
      return image;
    case 'ENV':
      return { ...image, env: { ...image.env, ...Object.fromEntries(rest.split(' ').map((one) => one.split('='))) } };
    case 'USER':
      return { ...image, user: rest };
    case 'COPY':
      copy(image.root, rest, context, stages);
      return image;
    case 'RUN':
      execFileSync('chroot', [image.root, '/bin/sh', '-ec', rest], { stdio: 'pipe', env: environmentIn(image) });
      return image;
    case 'ENTRYPOINT':
      return { ...image, entrypoint: JSON.parse(rest) as string[] };
    case 'CMD':
      return { ...image, command: JSON.parse(rest) as string[] };
    case 'HEALTHCHECK':
      return { ...image, healthcheck: JSON.parse(rest.slice(rest.indexOf('CMD ') + 4)) as string[] };
    default:
      throw new Error(`no such instruction is carried out: ${instruction}`);
  }
}

/** What a command in an image finds, and what lets npm reach its registry from here. */
export function environmentIn({ env }: Pick<Image, 'env'>): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  return { PATH: path, HOME: '/root', ...(certificates && { NODE_EXTRA_CA_CERTS: certificates }), ...env };
}

function copy(root: string, rest: string, context: string, stages: ReadonlyMap<string, string>): void {
  const words = rest.split(' ');
  const from = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
  const [source = '', target = ''] = from === undefined ? words : words.slice(1);
  if (from !== undefined) {
    mkdirSync(join(root, target, '..'), { recursive: true });
    cpSync(join(stages.get(from) ?? '/nowhere', source), join(root, target), {
      recursive: true,
      verbatimSymlinks: true,
    });
    return;
  }
  const [start = '', end = ''] = source.split('*');
  const found = readdirSync(context).filter((name) => name.startsWith(start) && name.endsWith(end));
  if (found.length === 0) throw new Error(`COPY ${rest}: nothing has this name`);
  for (const name of found) cpSync(join(context, name), join(root, target, name));
}
