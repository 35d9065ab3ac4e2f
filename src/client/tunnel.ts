/** Connections to a hub through an HTTP proxy: a tunnel (CONNECT) for https, the whole address in the request for http. */
import { type ClientRequest as Outgoing, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { limits } from '../limits/service.ts';
import { type HttpProxy, proxyAway, proxyRefuses } from './proxy.ts';

type Answered = Parameters<typeof plainRequest>[2];

/** With header fields by name. */
export interface ThroughOptions extends RequestOptions {
  readonly headers: Readonly<Record<string, string>>;
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
  if (target.protocol === 'https:') return tlsRequest(target, { ...options, agent: agentOf(proxy) }, answered);
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

  override createConnection(
    options: RequestOptions & { readonly servername?: string },
    opened: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { host, port, servername } = options;
    openTunnel(this.#proxy, `${host}:${port ?? 443}`).then(
      (socket) => opened(null, connect({ socket, ...(servername === undefined ? {} : { servername }) })),
      (error: Error) => (opened as (error: Error) => void)(error),
    );
  }
}

function openTunnel(proxy: HttpProxy, to: string): Promise<Duplex> {
  const { url } = proxy;
  const open = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const asking = open({
      ...whereOf(url),
      method: 'CONNECT',
      path: to,
      agent: false,
      headers: { Host: to, ...authorizationOf(url) },
      timeout: limits.clientSecondsDefault * 1000,
    });
    asking.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyRefuses(proxy, statusCode ?? 0, to));
    });
    // An answer without a tunnel: this is no proxy.
    asking.once('response', ({ statusCode }) => {
      asking.destroy();
      reject(proxyRefuses(proxy, statusCode ?? 0, to));
    });
    asking.once('timeout', () => asking.destroy(new Error('no answer')));
    asking.once('error', (error) => reject(proxyAway(proxy, error)));
    asking.end();
  });
}

const whereOf = ({ hostname, port, protocol }: URL) => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
});

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
