/** Pure rules of the front door, where the black box would be a detour. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import { StartError } from '../../../src/common/start-error.ts';
import { empty } from '../../../src/http/reply/reply.ts';
import { SendPace } from '../../../src/http/reply/send-pace.ts';
import { createAddressResolver, peerAddress } from '../../../src/http/request/client-address.ts';
import { answerRange } from '../../../src/http/request/conditional.ts';
import { parseForm } from '../../../src/http/request/form-body.ts';
import { framingFault } from '../../../src/http/request/framing.ts';
import type { Route } from '../../../src/http/route/route.ts';
import { Router } from '../../../src/http/route/router.ts';
import { limits } from '../../../src/limits/service.ts';
import { nearest } from '../../../src/text/nearest.ts';
import { connectionOf } from '../../support/connection.ts';
import { seed } from '../../support/seed.ts';

fc.configureGlobal({ seed });

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  access: 'open',
  body: { kind: 'none' },
  doc: [],
  handle: () => empty(204),
});

const router = new Router([
  route('GET', '/items'),
  route('POST', '/items'),
  route('GET', '/items/latest'),
  route('GET', '/items/:id'),
  route('DELETE', '/items/:id'),
  route('GET', '/items/:id/parts/:part'),
]);

/** The pattern that a path leads to, or the kind of the refusal. */
function target(method: string, path: string): string {
  try {
    return router.match(method, path).route.path;
  } catch (error) {
    if (error instanceof Refusal) return error.fault.kind;
    throw error;
  }
}

test.each([
  ['GET', '/items', '/items'],
  ['HEAD', '/items', '/items'],
  ['GET', '/items/latest', '/items/latest'],
  ['GET', '/items/other', '/items/:id'],
  ['HEAD', '/items/x/parts/y', '/items/:id/parts/:part'],
  ['PUT', '/items', 'method_unknown'],
  ['get', '/items', 'method_unknown'],
  ['POST', '/items/other', 'method_unknown'],
  ['GET', '', 'route_unknown'],
  ['GET', '/', 'route_unknown'],
  ['GET', '/items/', 'route_unknown'],
  ['GET', '//items', 'route_unknown'],
  ['GET', '/items/x/parts', 'route_unknown'],
  ['GET', '/items/x/parts/y/z', 'route_unknown'],
  ['GET', '/items/%ff', 'route_unknown'],
  ['GET', '/items/%', 'route_unknown'],
  ['GET', '/Items', 'route_unknown'],
  ['GET', '/items/../items', 'route_unknown'],
  ['GET', '/:id', 'route_unknown'],
])('[NET-2] the router takes %s %s to %s', (method, path, expected) => {
  expect(target(method, path)).toBe(expected);
});

test('[NET-2] the router decodes any parameter exactly once', () => {
  const value = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text !== 'latest');
  fc.assert(
    fc.property(value, value, (id, part) => {
      const found = router.match('GET', `/items/${encodeURIComponent(id)}/parts/${encodeURIComponent(part)}`);
      expect(found.params).toEqual({ id, part });
    }),
  );
});

test('[NET-2] the router answers every path with a route or a refusal', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: 'binary' }), (method, path) => {
      expect(typeof target(method, path)).toBe('string');
      expect(typeof target(method, `/items/${path}`)).toBe('string');
    }),
  );
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('[NET-2] the router knows no path %s', (name) => {
  expect(target('GET', `/${name}`)).toBe('route_unknown');
  expect(router.match('GET', `/items/${name}`).params).toEqual({ id: name });
});

test('[NET-4] a form is read as a browser wrote it: any field, in order, and the first character is never lost', () => {
  const bytes = (text: string) => Buffer.from(text, 'utf8');
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))), (fields) => {
      expect([...parseForm(bytes(new URLSearchParams(fields).toString()))]).toEqual(fields);
    }),
  );
  expect([...parseForm(bytes('?a=1&b=%3Cb%3E+c'))]).toEqual([
    ['?a', '1'],
    ['b', '<b> c'],
  ]);
  expect([...parseForm(Uint8Array.of(0x61, 0x3d, 0xff))]).toEqual([['a', '\ufffd']]);
  expect([...parseForm(bytes(''))]).toEqual([]);
});

test('[NET-3] framing passes digits of a sane length and nothing else', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.nat().map(String), fc.stringMatching(/^[0-9+\-., x]{0,6}$/)), (length) => {
      const fault = framingFault([
        ['host', 'cairn.test'],
        ['content-length', length],
      ]);
      expect(fault === undefined).toBe(/^[0-9]{1,15}$/.test(length));
    }),
  );
});

const answer = (range: string | undefined, bytesTotal: number, more: { ifNoneMatch?: string; ifRange?: string } = {}) =>
  answerRange({ range, bytesTotal, etag: '"tag"', ifNoneMatch: more.ifNoneMatch, ifRange: more.ifRange });

test.each([
  [undefined, 10, { kind: 'whole' }],
  ['bytes=0-0', 10, { kind: 'part', start: 0, end: 1 }],
  ['bytes=3-', 10, { kind: 'part', start: 3, end: 10 }],
  ['bytes=-3', 10, { kind: 'part', start: 7, end: 10 }],
  ['bytes=-30', 10, { kind: 'part', start: 0, end: 10 }],
  ['bytes=8-99', 10, { kind: 'part', start: 8, end: 10 }],
  ['bytes=10-', 10, { kind: 'unsatisfiable' }],
  ['bytes=-0', 10, { kind: 'unsatisfiable' }],
  ['bytes=5-4', 10, { kind: 'whole' }],
  ['bytes=-', 10, { kind: 'whole' }],
  ['bytes=0-1,3-4', 10, { kind: 'whole' }],
  ['lines=0-1', 10, { kind: 'whole' }],
  ['bytes=a-b', 10, { kind: 'whole' }],
])('[MIR-15] Range %s of %i bytes', (range, bytesTotal, expected) => {
  expect(answer(range, bytesTotal)).toEqual(expected);
});

test('[MIR-15] every part lies inside the bytes and is the one asked for', () => {
  const offset = fc.nat({ max: 2000 });
  fc.assert(
    fc.property(offset, offset, fc.integer({ min: 1, max: 1000 }), (first, last, bytesTotal) => {
      const bytes = Array.from({ length: bytesTotal }, (_, index) => index);
      const found = answer(`bytes=${first}-${last}`, bytesTotal);
      if (found.kind === 'part') {
        expect(bytes.slice(found.start, found.end)).toEqual(bytes.slice(first, last + 1));
        expect(found.end).toBeGreaterThan(found.start);
      } else if (found.kind === 'unsatisfiable') expect(first).toBeGreaterThanOrEqual(bytesTotal);
      else expect(last).toBeLessThan(first);
    }),
  );
});

test('[MIR-15] If-None-Match comes before a range, and If-Range takes the one strong tag', () => {
  for (const ifNoneMatch of ['"tag"', 'W/"tag"', '*', '"other", "tag"']) {
    expect(answer('bytes=0-1', 10, { ifNoneMatch })).toEqual({ kind: 'unchanged' });
  }
  expect(answer('bytes=0-1', 10, { ifNoneMatch: '"other"' })).toMatchObject({ kind: 'part' });
  expect(answer('bytes=0-1', 10, { ifRange: '"tag"' })).toMatchObject({ kind: 'part' });
  for (const ifRange of ['W/"tag"', '"other"', 'Fri, 20 Nov 2026 10:00:00 GMT', '*']) {
    expect(answer('bytes=0-1', 10, { ifRange })).toEqual({ kind: 'whole' });
  }
});

test('[NET-10] without trusted proxies, or from another peer, no header moves the address', () => {
  const none = createAddressResolver([]);
  const some = createAddressResolver(['10.0.0.0/8']);
  fc.assert(
    fc.property(fc.option(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), { nil: undefined }), (forwarded) => {
      expect(none('192.0.2.1', forwarded)).toBe('192.0.2.1');
      expect(some('192.0.2.1', forwarded)).toBe('192.0.2.1');
    }),
  );
});

test('[NET-10] whatever a client puts on the left, the entry that the proxy wrote counts', () => {
  const resolve = createAddressResolver(['10.0.0.0/8']);
  const client = fc.ipV4().filter((address) => !address.startsWith('10.'));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6())), client, (spoofed, address) => {
      expect(resolve('10.0.0.1', [...spoofed, address].join(','))).toBe(address);
      expect(resolve('10.0.0.1', [...spoofed, address, '10.2.3.4'].join(', '))).toBe(address);
    }),
  );
});

test.each([
  '',
  'host',
  'proxy.test',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/x',
  '::/129',
  '::1/129',
  '300.1.1.1',
  '10.0.0/8',
  '10.0.0.0/-1',
  '10.0.0.0/1.5',
  '10.0.0.1/8/8',
])('[NET-10] %j is not a trusted proxy', (entry) => {
  expect(() => createAddressResolver([entry])).toThrow(StartError);
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['0000:0000:0000:0000:0000:0000:0000:0001', '0000:0000:0000:0000:0000:0000:0000:0001'],
  ['2001:0db8:0000:0000:0000:ffff:cb00:7109', '2001:0db8:0000:0000:0000:ffff:cb00:7109'],
])('[NET-10] the peer %s is told as %s', (reported, address) => {
  // Again: it is kept then.
  for (let again = 0; again < 2; again += 1) expect(peerAddress(connectionOf(reported))).toBe(address);
});

test('[NET-7] a reader at the least pace is sent on to for ever, one below it or at rest is not', () => {
  const stallSeconds = 30;
  const fast = new SendPace(stallSeconds, 0);
  const slow = new SendPace(stallSeconds, 0);
  const resting = new SendPace(stallSeconds, 0);
  let slowUntil = 0;
  for (let second = 1; second <= 3600; second += 1) {
    expect(fast.isTooSlow(second * 1000, second * limits.sendBytesPerSecondMin)).toBe(false);
    if (slowUntil === 0 && slow.isTooSlow(second * 1000, second * (limits.sendBytesPerSecondMin / 2)))
      slowUntil = second;
    expect(resting.isTooSlow(second * 1000, 1_000_000)).toBe(second > stallSeconds + 1);
  }
  // Half the pace is caught up with after twice the time that nothing is asked of it.
  expect(slowUntil).toBe(2 * stallSeconds + 1);
});

test('[OPS-1] a name with one slip finds the name that was meant', () => {
  const known = ['CAIRN_PORT', 'CAIRN_HANDLER_SECONDS', 'CAIRN_BLOCKED_AGENTS', 'CAIRN_TRUSTED_PROXIES'];
  const slip = fc.record({ name: fc.constantFrom(...known), at: fc.nat(), letter: fc.constantFrom('A', 'Z', '_', '') });
  fc.assert(
    fc.property(slip, ({ name, at, letter }) => {
      const place = at % name.length;
      expect(nearest(name.slice(0, place) + letter + name.slice(place + 1), known)).toBe(name);
    }),
  );
});

test('[OPS-1] a name far from all finds none', () => {
  expect(nearest('CAIRN_QWERTYUIOPASDFGH', ['CAIRN_PORT', 'CAIRN_HOST'])).toBeUndefined();
  expect(nearest('CAIRN_PORT', [])).toBeUndefined();
});

test('[NET-16] the nearest name is the one that counting every edit finds', () => {
  const plain = (a: string, b: string): number => {
    if (a === '' || b === '') return a.length + b.length;
    const replaced = plain(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1);
    return Math.min(replaced, plain(a.slice(1), b) + 1, plain(a, b.slice(1)) + 1);
  };
  const words = ['', 'a', 'ab', 'ba', 'abc', 'acb', 'bca', 'abca', 'aabb', 'bbaa', 'cabab'];
  for (const asked of words) {
    for (const [from] of words.entries()) {
      const known = words.slice(from);
      const edits = known.map((word) => plain(asked, word));
      const least = Math.min(...edits.filter((_, at) => Math.abs((known[at] ?? '').length - asked.length) <= 2));
      const found = nearest(asked, known);
      // Short names of which little is left are no typing error, so nothing may be found.
      if (found !== undefined) expect(found).toBe(known[edits.indexOf(least)]);
      else expect(least === 0 && asked !== '').toBe(false);
    }
  }
});
