/** Connections to a hub through an HTTP proxy: a tunnel (CONNECT) for https, the whole address in the request for http. */
import { type ClientRequest as Outgoing, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { type HttpProxy, proxyAway, proxyRefuses } from './proxy.ts';

type Answered = Parameters<typeof plainRequest>[2];

/** With header fields by name. */
export interface ThroughOptions extends RequestOptions {
  readonly headers: Readonly<Record<string, string>>;
}

interface TunnelOptions extends RequestOptions {
  readonly servername?: string;
  /** Ends the making of a tunnel: Node keeps `signal` from agents. */
  readonly until: AbortSignal | undefined;
}

/** One for each proxy: requests share its tunnels. */
const agents = new Map<string, Agent>();

/** Sends a request to an address of a hub through a proxy. Its `error` is an Unreachable when no tunnel was made. */
export function requestThrough(
  proxy: HttpProxy,
  address: string,
  options: ThroughOptions,
  answered: Answered,
): Outgoing {
  const target = new URL(address);
  if (target.protocol === 'https:') {
    const through: TunnelOptions = { ...options, agent: agentOf(proxy), until: options.signal };
    return tlsRequest(target, through, answered);
  }
  const { url } = proxy;
  const open = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const headers = { ...options.headers, Host: target.host, ...authorizationOf(url) };
  return open({ ...whereOf(url), ...options, path: target.href, headers }, answered);
}

function agentOf(proxy: HttpProxy): Agent {
  const known = agents.get(proxy.url.href);
  if (known !== undefined) return known;
  const agent = new TunnelAgent(proxy);
  agents.set(proxy.url.href, agent);
  return agent;
}

class TunnelAgent extends Agent {
  readonly #proxy: HttpProxy;

  constructor(proxy: HttpProxy) {
    super({ keepAlive: true });
    this.#proxy = proxy;
  }

  override createConnection(options: TunnelOptions, opened: (error: Error | null, socket: Duplex) => void): undefined {
    const { port, servername = '', until } = options;
    const host = options.host ?? '';
    const to = `${isIP(host) === 6 ? `[${host}]` : host}:${port ?? 443}`;
    // Without `host`, the certificate of a hub at an address would be one for localhost.
    openTunnel(this.#proxy, to, until).then(
      (socket) => opened(null, connect({ socket, host, servername })),
      (error: Error) => (opened as (error: Error) => void)(error),
    );
  }
}

function openTunnel(proxy: HttpProxy, to: string, until: AbortSignal | undefined): Promise<Duplex> {
  const { url } = proxy;
  const open = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const asking = open({
      ...whereOf(url),
      method: 'CONNECT',
      path: to,
      agent: false,
      headers: { Host: to, ...authorizationOf(url) },
      ...(until === undefined ? {} : { signal: until }),
    });
    // Whatever the answer is: it decides on the connection.
    asking.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      reject(proxyRefuses(proxy, statusCode, to));
    });
    asking.once('error', (error) => reject(proxyAway(proxy, error)));
    asking.end();
  });
}

/** `servername`: else the certificate of the proxy would be compared with the header Host, which names the hub. */
function whereOf({ hostname, port, protocol }: URL) {
  const host = hostname.replace(/^\[|\]$/g, '');
  const usual = protocol === 'https:' ? 443 : 80;
  return { host, port: port === '' ? usual : Number(port), servername: isIP(host) === 0 ? host : '' };
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** A part of an address that may have a bare percent sign, as passwords do. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
