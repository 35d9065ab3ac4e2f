/** Files of pages are compressed in advance for whoever accepts it; what pages are, is in compressed-pages.test.ts. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

test('[WEB-22, NET-14] files of pages are sent compressed to whoever accepts it, and as they are to others', async () => {
  const page = await call(hub, '/signin');
  expect(page.headers['content-encoding']).toBeUndefined();
  const paths = [...page.text.matchAll(/"(\/assets\/[^"]+\.(?:css|js))"/g)].map(([, path = '']) => path);
  expect(paths.length).toBe(2);
  for (const path of paths) {
    const get = async (accepted?: string) => await call(hub, path, { headers: { 'Accept-Encoding': accepted } });
    const whole = await get();
    expect([whole.headers['content-encoding'], whole.headers.vary]).toEqual([undefined, 'Accept-Encoding']);
    const [zipped, brotli] = [await get('gzip, deflate'), await get('gzip, deflate, br, zstd')];
    expect([zipped.headers['content-encoding'], gunzipSync(zipped.bytes).equals(whole.bytes)]).toEqual(['gzip', true]);
    expect([brotli.headers['content-encoding'], brotliDecompressSync(brotli.bytes).equals(whole.bytes)]).toEqual([
      'br',
      true,
    ]);
    expect(brotli.bytes.length).toBeLessThan(whole.bytes.length / 3);
    expect(brotli.headers['content-length']).toBe(String(brotli.bytes.length));
  }
});
