/** The shape of README and manual: short, no heading twice, links that lead somewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pages, textOf } from '../support/examples.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README_LINES_MAX = 150;

const withoutBlocks = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '');
const headings = (text: string) => [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test('[MAN-1] the README is short', () => {
  expect(textOf('README.md').split('\n').length - 1).toBeLessThanOrEqual(README_LINES_MAX);
});

/** What people and agents who work on Cairn read first. */
const GUIDES = ['AGENTS.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md'];
const LINKED = [...pages(), ...GUIDES, 'bench/README.md'];

test.each(LINKED)('[MAN-1] %s has no heading twice, and its links lead somewhere', (page) => {
  const text = textOf(page);
  const titles = headings(text);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  expect(text).toMatch(/^# /);
  const links = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  links.push(...[...text.matchAll(/\b(?:src|srcset)="([^"]+)"/g)].map(([, file = '']) => file));
  const dead = links.filter((link) => !link.startsWith('https://') && !leads(page, link));
  expect(dead).toEqual([]);
});

test.each(GUIDES)('[MAN-6] what %s names exists: files, folders and scripts', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const asked = [...text.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name);
  expect(asked.filter((name) => name !== 'ci' && !(name in scripts))).toEqual([]);
  const named = [...text.matchAll(/`((?:src|test|bench|workers)\/[\w./-]*)`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const rooms = page === 'AGENTS.md' ? [...(/## Layers[\s\S]*?## /.exec(text)?.[0] ?? '').matchAll(/`([a-z]+)`/g)] : [];
  expect(rooms.filter(([, room = '']) => !existsSync(join(ROOT, 'src', room))).map(([room]) => room)).toEqual([]);
});

function leads(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || headings(readFileSync(file, 'utf8')).map(anchorOf).includes(anchor);
}

/** Expressions in the source of messages that always have the same value. */
const CONSTANTS: readonly (readonly [expression: RegExp, value: string])[] = [
  [/\$\{KEY_FILE\}/g, 'master.key'],
  [/\$\{DATA_FILE\}/g, 'cairn.mdb'],
  [/\$\{basename\(path\)\}(?= cannot)/g, 'cairn.mdb'],
];

/** The messages of the program as its source has them: strings that continue on the next line are joined. */
function printed(): string {
  const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'))
    .join('\n')
    .replace(/['`"] \+\s+['`"]/g, '');
  return CONSTANTS.reduce((text, [expression, value]) => text.replace(expression, value), source);
}

/** What stands in backquotes in the first cell of each row and has a space, but no commands. */
const messagesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => /^\| (.+?) \| /.exec(line)?.[1] ?? '')
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message))
    .filter((message) => message.includes(' ') && !/^(cairn|npm) /.test(message));

test('[MAN-1] tables of symptoms quote messages that the program prints', () => {
  const source = printed();
  const [, notStarting = ''] = textOf('src/manual/operating.md').split(/^## The hub does not start .+$/m);
  const messages = [...messagesOf(textOf('src/manual/troubleshooting.md')), ...messagesOf(notStarting)];
  expect(messages.length).toBeGreaterThan(40);
  const parts = messages.flatMap((message) => message.split('…')).map((part) => part.trim());
  expect(parts.filter((part) => !source.includes(part))).toEqual([]);
});
