/** Code as HTML: coloured, in numbered lines, and nothing of it markup. */
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { codeHtml } from '../../../src/web/rendering/code.ts';

const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(
      /&(lt|gt|quot|#x27|amp);/g,
      (_, name: string) => ({ lt: '<', gt: '>', quot: '"', '#x27': "'", amp: '&' })[name] ?? '',
    );

test('[WEB-13] a comment over several lines keeps its colour in each, and each line its number', () => {
  const html = codeHtml({ text: '/* one\ntwo */\nconst a = 1;\n', name: 'a.ts' });
  expect(html.split('\n')).toEqual([
    '<span class="line" id="L1"><span class="hljs-comment">/* one</span></span>',
    '<span class="line" id="L2"><span class="hljs-comment">two */</span></span>',
    expect.stringContaining('<span class="line" id="L3"><span class="hljs-keyword">const</span> a'),
  ]);
});

test.each([
  'a.ts',
  'a.html',
  'a.md',
  'a.xml',
  'a.php',
  'a.css',
  'a.json',
  'a.yml',
  'a.sh',
  'a.py',
  'Makefile',
  'a.none',
  'a.',
])('[WEB-13] %s shows markup of an attacker as text, character by character', (name) => {
  const text =
    '<script>alert("1")</script>\n<img src=x onerror=alert(1)>\n<?php echo 1; ?>\n`$' +
    '{a}` </span></code></pre><b>\n';
  const html = codeHtml({ text, name });
  expect([...html.matchAll(/<(?!\/?span\b)/g)]).toEqual([]);
  expect([...html.matchAll(/<span (?!class="(line" id="L\d+|hljs-[\w -]+|language-[\w -]+)">)/g)]).toEqual([]);
  expect(textOf(html)).toBe(text.slice(0, -1));
  expect(html.split('<span').length).toBe(html.split('</span>').length);
});

test('[WEB-13, LIM-2] long code is shown without colours', () => {
  const html = codeHtml({ text: 'const a = 1;\n'.repeat(limits.highlightCharsMax / 10), name: 'a.ts' });
  expect(html).not.toContain('hljs');
});

test('[WEB-13] the lines of a part are numbered in the whole text', () => {
  const html = codeHtml({ text: 'a < b\nc\n', name: 'a.txt', firstLine: 900 });
  expect(html).toBe(
    '<span class="line" id="L900" data-line="900">a &lt; b</span>\n<span class="line" id="L901" data-line="901">c</span>',
  );
});
