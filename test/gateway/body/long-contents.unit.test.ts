/** Where long contents are looked for in a body: in the arguments of tools that take them, and nowhere else. */
import { expect, test } from 'vitest';
import { contentPlaces, holdsLong, rawContent } from '../../../src/gateway/body/long-contents.ts';
import { limits } from '../../../src/limits/service.ts';

const contentHolders = (...given: Parameters<typeof contentPlaces>) => contentPlaces(...given).filter(holdsLong);

const long = 'x'.repeat(limits.inlineContentBytesMax + 1);
const short = 'x'.repeat(limits.inlineContentBytesMax);
const messages = { kind: 'messages', contentTools: ['push'] } as const;
const call = (name: unknown, args: unknown, method = 'tools/call') => ({ method, params: { name, arguments: args } });

test('[SYN-17] in the arguments of a call, alone and in a batch, and in the items of files', () => {
  const args = { content: long };
  const files = [{ content: long, encoding: 'base64' }, { content: short }, null, 'text', { content: 1 }];
  expect(contentHolders(call('push', args), messages)).toEqual([args]);
  expect(contentHolders([call('push', { files }), call('push', args)], messages)).toEqual([files[0], args]);
  expect(contentHolders({ content: long, files }, { kind: 'arguments' })).toEqual([{ content: long, files }, files[0]]);
});

test.each([
  null,
  7,
  [null, 7],
  call('push', { content: short }),
  call('push', [{ content: long }]),
  call('push', null),
  call('other', { content: long }),
  call(undefined, { content: long }),
  call('push', { content: long }, 'tools/list'),
  call('push', { inner: { content: long } }),
  call('push', { files: { content: long } }),
  { method: 'tools/call', params: [{ name: 'push', arguments: { content: long } }] },
])('[SYN-17] nothing is taken out of another body %#', (document) => {
  expect(contentHolders(document, messages)).toEqual([]);
  expect(contentHolders(document, { kind: 'document' })).toEqual([]);
});

test('[SYN-17] an encoding that is none is read as text, and refused with the other arguments', () => {
  expect(rawContent({ content: 'a', encoding: 'base64' })).toEqual({ text: 'a', encoding: 'base64' });
  for (const encoding of [undefined, null, 'utf-8', 'BASE64', {}]) {
    expect(rawContent({ content: 'a', encoding })).toEqual({ text: 'a', encoding: 'utf-8' });
  }
});
