/** Fixes the tree of a rendered text: links, images, headings, check boxes, scrolling blocks. */
import type { Element, ElementContent, Root } from 'hast';
import type { LinkBase } from '../../pool/jobs.ts';
import { HEADING_ID, imageSource, linkTarget, slugOf } from './links.ts';

/** State of one pass over a tree. */
interface Pass {
  readonly base: LinkBase | undefined;
  /** Original levels of the headings that enclose the current place. */
  readonly above: number[];
  /** How often each id was used. */
  readonly ids: Map<string, number>;
}

const OUT = { rel: ['noopener', 'noreferrer', 'nofollow'] };
/** Deeper markup is dropped, because the tree is walked recursively. */
const DEPTH_MAX = 200;

/** Changes the tree in place. */
export function settleTree(tree: Root, base: LinkBase | undefined): void {
  walk(tree, { base, above: [], ids: new Map() }, 0);
}

function walk(parent: Root | Element, pass: Pass, depth: number): void {
  const kept: ElementContent[] = [];
  for (const node of parent.children) {
    if (node.type === 'doctype' || node.type === 'comment') continue;
    if (node.type !== 'element') {
      kept.push(node);
      continue;
    }
    if (depth === DEPTH_MAX) continue;
    delete node.properties['id'];
    walk(node, pass, depth + 1);
    kept.push(settled(node, pass));
  }
  parent.children = kept;
}

function settled(node: Element, pass: Pass): Element {
  switch (node.tagName) {
    case 'a':
      return link(node, pass.base);
    case 'img':
      return image(node, pass.base);
    case 'pre':
      return scrolling(node, 'Code');
    case 'table':
      return scrolling({ type: 'element', tagName: 'div', properties: {}, children: [node] }, 'Table', 'table-scroll');
    case 'li':
      return task(node);
    default:
      return /^h[1-6]$/.test(node.tagName) ? heading(node, pass) : node;
  }
}

function link(node: Element, base: LinkBase | undefined): Element {
  const { href, title } = node.properties;
  const target = typeof href === 'string' ? linkTarget(href, base) : undefined;
  const properties = { ...(target && { href: target.href }), ...(typeof title === 'string' && { title }) };
  return { ...node, properties: target?.kind === 'outside' ? { ...properties, ...OUT } : properties };
}

/** An image of another host becomes a link, so that the page sends no request to that host. */
function image(node: Element, base: LinkBase | undefined): Element {
  const { src, alt, title } = node.properties;
  const given = typeof src === 'string' ? src : '';
  const text = typeof alt === 'string' ? alt : '';
  const source = imageSource(given, base);
  if (source !== undefined) {
    const properties = { src: source, alt: text, ...(typeof title === 'string' && { title }), loading: 'lazy' };
    return { ...node, properties };
  }
  const outside = linkTarget(given, undefined);
  const words: ElementContent[] = [{ type: 'text', value: text === '' ? 'Image' : text }];
  if (outside?.kind !== 'outside') return { type: 'element', tagName: 'span', properties: {}, children: words };
  const properties = { href: outside.href, ...OUT, className: ['remote-image'] };
  return { type: 'element', tagName: 'a', properties, children: words };
}

/** Moves headings below the heading of the page, without skipping a level. */
function heading(node: Element, pass: Pass): Element {
  const given = Number(node.tagName[1]);
  while ((pass.above.at(-1) ?? 0) >= given) pass.above.pop();
  pass.above.push(given);
  const level = Math.min(pass.above.length + 1, 6);
  const slug = slugOf(textOf(node));
  const times = pass.ids.get(slug) ?? 0;
  pass.ids.set(slug, times + 1);
  const id = `${HEADING_ID}${slug}${times === 0 ? '' : `-${times}`}`;
  return { ...node, tagName: `h${level}`, properties: { id } };
}

function scrolling(node: Element, label: string, className?: string): Element {
  const properties = { tabIndex: 0, role: 'group', ariaLabel: label, ...(className && { className: [className] }) };
  return { ...node, properties };
}

/** Turns `[ ]` and `[x]` at the beginning of a list item into disabled check boxes. */
function task(node: Element): Element {
  const [outer] = node.children.filter((child) => child.type !== 'text' || child.value.trim() !== '');
  const holder = outer?.type === 'element' && outer.tagName === 'p' ? outer : node;
  const at = holder.children.findIndex((child) => child.type !== 'text' || child.value.trim() !== '');
  const first = holder.children[at];
  const found = first?.type === 'text' ? /^\s*\[([ xX])\]\s/.exec(first.value) : null;
  if (found === null || first?.type !== 'text') return node;
  const checked = found[1] !== ' ';
  const properties = { type: 'checkbox', disabled: true, checked, ariaLabel: checked ? 'done' : 'open' };
  const box: Element = { type: 'element', tagName: 'input', properties, children: [] };
  const text: ElementContent = { type: 'text', value: ` ${first.value.slice(found[0].length)}` };
  holder.children.splice(at, 1, box, text);
  return { ...node, properties: { className: ['task'] } };
}

function textOf(node: Element): string {
  return node.children
    .map((child) => (child.type === 'text' ? child.value : child.type === 'element' ? textOf(child) : ''))
    .join('');
}
