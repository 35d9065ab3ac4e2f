/** Encodes an HTTP/1.1 request as bytes for clients over bare sockets. */

export interface RawRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, sent with POST; without it the request is GET. */
  readonly body?: string;
}

export function requestText({ url, headers, body }: RawRequest): string {
  const { host, pathname } = new URL(url);
  const own =
    body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const fields = Object.entries({ Host: host, ...headers, ...own }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${body === undefined ? 'GET' : 'POST'} ${pathname} HTTP/1.1\r\n${fields.join('')}\r\n${body ?? ''}`;
}
