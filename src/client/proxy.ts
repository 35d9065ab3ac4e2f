/** Which proxy leads to a hub, by the variables that curl and git read; and what is said of one that does not lead there. Pure. */
import { BlockList, isIP } from 'node:net';
import { ClientError, Unreachable } from './client-error.ts';

/** The variables for an address, the first that is set counts. Without HTTP_PROXY: a CGI program gets it from a header. */
const NAMES = {
  'https:': ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
  'http:': ['http_proxy', 'all_proxy', 'ALL_PROXY'],
} as const;

export interface HttpProxy {
  readonly url: URL;
  /** The variable that names it. */
  readonly name: string;
}

/**
 * Returns the proxy for a hub, or undefined: none is set, NO_PROXY names the host, or it is this machine. Throws
 * ClientError when the variable is not the address of an HTTP proxy.
 */
export function proxyFor(server: string, environment: NodeJS.ProcessEnv): HttpProxy | undefined {
  const target = new URL(server);
  const names = target.protocol === 'https:' ? NAMES['https:'] : NAMES['http:'];
  const name = names.find((each) => (environment[each] ?? '') !== '');
  const given = name === undefined ? undefined : environment[name];
  if (name === undefined || given === undefined || isLocal(target.hostname)) return undefined;
  if (isExempt(target, environment['no_proxy'] ?? environment['NO_PROXY'] ?? '')) return undefined;
  const text = given.includes('://') ? given : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const kind =
      url?.protocol.startsWith('socks') === true ? ` and not of a SOCKS proxy, which cairn does not speak to` : '';
    throw new ClientError(
      `${name} must be the address of an HTTP proxy, like http://proxy.example.org:3128${kind}; if no proxy is needed for ${target.hostname}, add it to NO_PROXY.`,
    );
  }
  return { url, name };
}

const isLocal = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);

/** True when a list names the host: itself, a domain above it or a range of addresses, with a port or without; `*` names all. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const ownPort = port === '' ? ({ 'https:': '443' }[protocol] ?? '80') : port;
  const own = bare(hostname);
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    // Without brackets, an address with colons has no port.
    const [, host = '', only] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [undefined, entry];
    if (only !== undefined && only !== ownPort) return false;
    if (isIP(own) !== 0) return isInRange(own, bare(host));
    const domain = bare(host).replace(/^\*?\./, '');
    return domain !== '' && (own === domain || own.endsWith(`.${domain}`));
  });
}

/** Without the brackets of an address, and without the dot at the end of a name. */
const bare = (host: string): string => host.replace(/^\[|\]$|\.$/g, '');

/** True when an address is in a range, like `10.0.0.0/8`, or is the only one in it. */
function isInRange(address: string, range: string): boolean {
  const [network = '', bits] = range.split('/');
  const family = isIP(network);
  const longest = family === 4 ? 32 : 128;
  const length = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (family === 0 || !(length <= longest)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(network, length, family === 4 ? 'ipv4' : 'ipv6');
  return addresses.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** Names a proxy without the password in its address. */
export const shownProxy = ({ url, name }: HttpProxy): string => `the proxy ${url.protocol}//${url.host} of ${name}`;

/** Of a proxy that answered, without a tunnel. */
export function proxyRefuses(proxy: HttpProxy, status: number, to: string): Unreachable {
  if (status === 407) {
    const form = `${proxy.url.protocol}//NAME:PASSWORD@${proxy.url.host}`;
    return new Unreachable(`${shownProxy(proxy)} wants another name or password; set ${proxy.name} to ${form}`, '.');
  }
  const next = '; if no proxy is needed for this host, add it to NO_PROXY, else ask who runs the proxy.';
  return new Unreachable(`${shownProxy(proxy)} does not connect to ${to} (${status})`, next);
}

/** Of a proxy that cannot be reached. */
export const proxyAway = (proxy: HttpProxy, error: NodeJS.ErrnoException): Unreachable =>
  new Unreachable(
    `cannot connect to ${shownProxy(proxy)} (${error.code ?? error.message})`,
    '; correct the variable, or add the host of the hub to NO_PROXY.',
    error.code,
  );
