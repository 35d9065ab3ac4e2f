/** Serves the files loaded by pages. Their names contain a hash of the content, so that browsers cache them forever. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Refusal } from '../common/fault.ts';
import { KeptFile } from '../http/route/kept-file.ts';
import type { Route } from '../http/route/route.ts';

/**
 * What each file is made of, in this order: styles lie beside the pages that need them, and a later one wins. `./` begins
 * a file of ours; the others are of packages.
 */
const FILES = {
  style: {
    file: 'style.css',
    type: 'text/css; charset=utf-8',
    parts: [
      './assets/base.css',
      './assets/frame.css',
      './assets/blocks.css',
      './assets/forms.css',
      './vaults/vaults.css',
      './rendering/code.css',
      './rendering/prose.css',
      './vaults/compare/diff.css',
      './vaults/conflicts/merge.css',
      './board/board.css',
      './board/many.css',
      './activity/activity.css',
      './assets/overlays.css',
      './assets/screens.css',
      './help/help.css',
    ],
  },
  script: {
    file: 'pages.js',
    type: 'text/javascript; charset=utf-8',
    parts: [
      'idiomorph/dist/idiomorph.min.js',
      './assets/pages.browser.js',
      './assets/panels.browser.js',
      './assets/palette.browser.js',
      './assets/live.browser.js',
      './board/board.browser.js',
      './board/select.browser.js',
      './vaults/conflicts/merge.browser.js',
      './forms/drafts.browser.js',
    ],
  },
  icon: { file: 'icon.svg', type: 'image/svg+xml', parts: ['./assets/icon.svg'] },
} as const;

const HASH_CHARS = 12;
const FOREVER = 'public, max-age=31536000, immutable';

export type AssetPaths = Readonly<Record<keyof typeof FILES, string>>;

export interface Assets {
  readonly paths: AssetPaths;
  readonly route: Route;
}

/** Reads one part of a file. Our own scripts are wrapped in a block, because all parts share one module scope. */
function readPart(part: string): string {
  const isOwn = part.startsWith('./');
  const text = readFileSync(new URL(isOwn ? part : import.meta.resolve(part), import.meta.url), 'utf8');
  return isOwn && part.endsWith('.js') ? `{\n${text}\n}` : text;
}

/** Reads the files next to this module. A missing file means a broken build, and aborts the start. */
export function openAssets(): Assets {
  const byName = new Map<string, KeptFile>();
  const pathOf = ({ file, type, parts }: (typeof FILES)[keyof typeof FILES]) => {
    const text = parts.map(readPart).join('\n');
    const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS);
    const name = file.replace('.', `.${hash}.`);
    byName.set(name, new KeptFile(Buffer.from(text), { 'Content-Type': type, 'Cache-Control': FOREVER }));
    return `/assets/${name}`;
  };
  const paths = { style: pathOf(FILES.style), script: pathOf(FILES.script), icon: pathOf(FILES.icon) };
  const route: Route = {
    method: 'GET',
    path: '/assets/:name',
    access: 'open',
    body: { kind: 'none' },
    uncounted: true,
    doc: 'page',
    async handle(request) {
      const found = byName.get(request.params['name'] ?? '');
      if (found === undefined) throw new Refusal({ kind: 'not_found', what: 'no such file; reload the page' });
      return await found.reply(request);
    },
  };
  return { paths, route };
}
