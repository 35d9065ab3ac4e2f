/** The shape of README and manual: short, no heading twice, links that lead somewhere. */
import { existsSync, readFileSync } from 'node:fs';
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

test.each(pages())('[MAN-1] %s has no heading twice, and its links lead somewhere', (page) => {
  const text = textOf(page);
  const titles = headings(text);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  expect(text).toMatch(/^# /);
  const links = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const dead = links.filter((link) => !link.startsWith('https://') && !leads(page, link));
  expect(dead).toEqual([]);
});

function leads(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || headings(readFileSync(file, 'utf8')).map(anchorOf).includes(anchor);
}
