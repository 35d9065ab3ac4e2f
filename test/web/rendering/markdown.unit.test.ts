/** Markdown as HTML: what a reader needs is there, and nothing that runs, asks another host or leaves its place. */
import { expect, test } from 'vitest';
import { linkTarget } from '../../../src/web/rendering/links.ts';
import { markdownHtml } from '../../../src/web/rendering/markdown.ts';
import { withinTime } from '../../../src/web/rendering/time-limit.ts';

const base = { vault: '/vaults/v1', folder: 'notes/deep' };
const render = (text: string) => markdownHtml({ text, base });

test.each([
  ['# Title\n\n### Deep', '<h2 id="h-title">Title</h2>\n<h3 id="h-deep">Deep</h3>'],
  ['## Same\n\n## Same', '<h2 id="h-same">Same</h2>\n<h2 id="h-same-1">Same</h2>'],
  ['**b** _i_ ~~s~~ `c`', '<p><strong>b</strong> <em>i</em> <s>s</s> <code>c</code></p>'],
  ['[a](other.md#Big%20Part)', '<p><a href="/vaults/v1/file?path=notes%2Fdeep%2Fother.md#h-big-part">a</a></p>'],
  ['[a](../up.md)', '<p><a href="/vaults/v1/file?path=notes%2Fup.md">a</a></p>'],
  ['[a](/top.md)', '<p><a href="/vaults/v1/file?path=top.md">a</a></p>'],
  ['[a](sub/)', '<p><a href="/vaults/v1?folder=notes%2Fdeep%2Fsub">a</a></p>'],
  ['[a](#Here)', '<p><a href="#h-here">a</a></p>'],
  ['![x](pic%20one.png)', '<p><img src="/vaults/v1/raw?path=notes%2Fdeep%2Fpic+one.png" alt="x" loading="lazy"></p>'],
  [
    'https://example.org/x',
    '<p><a href="https://example.org/x" rel="noopener noreferrer nofollow">https://example.org/x</a></p>',
  ],
  [
    '![x](https://evil.example/a.png)',
    '<p><a href="https://evil.example/a.png" rel="noopener noreferrer nofollow" class="remote-image">x</a></p>',
  ],
  [
    '- [ ] open\n- [x] done',
    '<ul>\n<li class="task"><input type="checkbox" disabled aria-label="open"> open</li>\n' +
      '<li class="task"><input type="checkbox" disabled checked aria-label="done"> done</li>\n</ul>',
  ],
])('[WEB-13] %j is shown as a reader expects', (text, html) => {
  expect(render(text).trim()).toBe(html);
});

test('[WEB-13] code is coloured, tables scroll, and the front matter of a note is shown as it is', () => {
  expect(render('```js\nconst a = 1;\n```')).toContain('<span class="hljs-keyword">const</span>');
  expect(render('| a |\n|---|\n| b |')).toContain(
    '<div tabindex="0" role="group" aria-label="Table" class="table-scroll"><table>',
  );
  expect(render('---\ntitle: <b>x</b>\n---\n\n# T')).toMatch(
    /^<pre[^>]*><code>title: &lt;b>x|^<pre[^>]*><code>title: &lt;b&gt;x/,
  );
});

/** Ways in which markup has run script or asked for something, from OWASP's XSS filter evasion list and of our own. */
const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="//evil.example/x.png">',
  '<img srcset="https://evil.example/x.png 2x" src=y.png>',
  '<picture><source srcset="https://evil.example/x.png"><img src=a.png></picture>',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<svg><animate xlink:href=#x attributeName=href values=javascript:alert(1) /><a id=x><text>x</text></a></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="data:text/html,<script>alert(1)</script>"></object>',
  '<embed src="https://evil.example/x.swf">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<base href="https://evil.example/">',
  '<style>@import url(https://evil.example/x.css);</style>',
  '<p style="background:url(https://evil.example/x.png)">x</p>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="jAvAsCrIpT&colon;alert(1)">x</a>',
  '<a href=" java\nscript:alert(1)">x</a>',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<a href="vbscript:msgbox(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](<java&#115;cript:alert(1)>)',
  '![x](javascript:alert(1))',
  '![x](data:image/svg+xml,<svg onload=alert(1)>)',
  '![x](//evil.example/x.png)',
  '![x](\\\\evil.example\\x.png)',
  '<a href="//evil.example/">x</a>',
  '<form action=https://evil.example><input name=q><button formaction=javascript:alert(1)>x</button></form>',
  '<input onfocus=alert(1) autofocus>',
  '<details open ontoggle=alert(1)>x</details>',
  '<video><source onerror=alert(1)></video>',
  '<audio src=https://evil.example/x.mp3 autoplay>',
  '<body onload=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<template><script>alert(1)</script></template>',
  '<textarea><img src=x onerror=alert(1)></textarea>',
  '<h1 id=main class=notice>x</h1>',
  '<div id="csrf" name="csrf" class="notice bad" tabindex="5">x</div>',
  '<a href="https://x" target=_blank ping=https://evil.example/>x</a>',
  '<table background="https://evil.example/x.png"><tr><td>x',
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  '<b class="hljs-x" onclick=alert(1)>x</b>',
  '[x]: javascript:alert(1)\n\n[x]',
  '<!--><img src=x onerror=alert(1)>-->',
  '<xss onpointerenter=alert(1) style=display:block>x</xss>',
  '<a href="https://evil.example" style="position:fixed;inset:0">x</a>',
];

test.each(ATTACKS)('[WEB-13] nothing of %j runs or asks for anything', (attack) => {
  for (const text of [attack, `para ${attack} graph`, `> - ${attack}`, `# ${attack}`]) {
    const html = render(text);
    const tags = [...html.matchAll(/<([a-z][a-z0-9-]*)((?:[^>"]|"[^"]*")*)>/gi)];
    for (const [tag, name = '', head = ''] of tags) {
      expect([
        tag,
        /^(script|style|iframe|object|embed|link|meta|base|form|button|svg|math|video|audio|source|template|textarea|noscript|picture|body|xss)$/i.test(
          name,
        ),
      ]).toEqual([tag, false]);
      expect([
        tag,
        /\s(on\w+|style|srcset|ping|target|name|background|srcdoc|formaction)[\s=]/i.test(`${head} `),
      ]).toEqual([tag, false]);
      const [, href] = /\shref="([^"]*)"/.exec(head) ?? [];
      expect([
        tag,
        href === undefined || /^(https?:\/\/|mailto:|#h-|\/vaults\/v1[/?]|\/vaults\/v1$)/.test(href),
      ]).toEqual([tag, true]);
      const [, source] = /\ssrc="([^"]*)"/.exec(head) ?? [];
      expect([tag, source === undefined || source.startsWith('/vaults/v1/raw?path=')]).toEqual([tag, true]);
      const [, id] = /\sid="([^"]*)"/.exec(head) ?? [];
      expect([tag, id === undefined || id.startsWith('h-')]).toEqual([tag, true]);
      const [, className = 'task'] = /\sclass="([^"]*)"/.exec(head) ?? [];
      expect([tag, /^(|task|table-scroll|remote-image|front-matter|hljs-.*|language-.*)$/.test(className)]).toEqual([
        tag,
        true,
      ]);
    }
  }
});

test('[WEB-13] no link leads out of the vault by its path', () => {
  for (const href of ['../../../../etc/passwd', '/%2e%2e/%2e%2e/x', '..%2f..%2f..%2fx', '/../../x']) {
    const target = linkTarget(href, base);
    expect([href, target?.href.startsWith('/vaults/v1/file?path=')]).toEqual([href, true]);
  }
  expect(linkTarget('other.md', undefined)).toBeUndefined();
});

test.each([
  ['brackets', '['.repeat(50_000)],
  ['emphasis', '*a '.repeat(50_000)],
  ['quotes', '>'.repeat(50_000)],
  ['lists', Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n')],
  ['elements', '<div>'.repeat(20_000)],
  ['links', '[a](b'.repeat(20_000)],
  ['tables', `${'|a'.repeat(2000)}\n${'|-'.repeat(2000)}\n${`${'|b'.repeat(2000)}\n`.repeat(20)}`],
])('[WEB-13, LIM-2] %s without end are rendered, or given up for plain text in time', (_name, text) => {
  const html = withinTime(() => render(text), 5000);
  expect(html === undefined || html.length > 0).toBe(true);
});

test('[WEB-13, LIM-2] a regular expression that would take hours is cut off', () => {
  expect(withinTime(() => /^(a+)+$/.test(`${'a'.repeat(40)}!`), 50)).toBeUndefined();
  expect(withinTime(() => 7, 5000)).toBe(7);
  expect(() =>
    withinTime(() => {
      throw new Error('its own');
    }, 5000),
  ).toThrow('its own');
});
