/** Checks how a hub is reached: TLS, the proxy in front, and who may sign up. */
import { BlockList, isIP } from 'node:net';
import type { Config } from '../../config.ts';
import { certificateExpiry, checkTlsFiles } from '../../http/library/tls.ts';
import { createAddressResolver } from '../../http/request/client-address.ts';
import { limits } from '../../limits/service.ts';
import { daysBetween, type Finding, note, ok, wrong } from './finding.ts';

/** Certificates expiring in fewer days are `wrong`. */
const RENEW_DAYS = limits.certificateDaysMin;

export function checkTls(config: Config, nowMs: number): Finding {
  const { tls, publicUrl, host } = config;
  if (tls !== undefined) {
    try {
      checkTlsFiles(tls);
    } catch (error) {
      return wrong('tls', (error as Error).message);
    }
    const days = daysBetween(nowMs, certificateExpiry(tls));
    if (days < 0)
      return wrong(
        'tls',
        'the certificate has expired; renew it, then run systemctl reload cairn (or send SIGHUP to the service).',
      );
    const left = `the certificate expires in ${days} days`;
    return days < RENEW_DAYS
      ? wrong('tls', `${left}; renew it, then run systemctl reload cairn (or send SIGHUP to the service).`)
      : ok('tls', left);
  }
  if (publicUrl?.startsWith('https:') === true) return ok('tls', 'the proxy in front speaks HTTPS');
  if (isLoopback(host))
    return note(
      'tls',
      'plain HTTP, to this machine only; for others set CAIRN_TLS_CERT and CAIRN_TLS_KEY, or put a proxy in front.',
    );
  return wrong(
    'tls',
    `keys cross the network of ${host} unencrypted; set CAIRN_TLS_CERT and CAIRN_TLS_KEY, or put a proxy in front.`,
  );
}

/** Checks that rate limits count real clients: not the proxy in front of them, nor an address they claim. */
export function checkProxy({ trustedProxies, publicUrl, tls }: Config): Finding {
  try {
    createAddressResolver(trustedProxies);
  } catch (error) {
    return wrong('proxy', (error as Error).message);
  }
  const open = trustedProxies.find((entry) => entry.endsWith('/0'));
  if (open !== undefined) {
    return wrong(
      'proxy',
      `CAIRN_TRUSTED_PROXIES has ${open}, so anyone can choose the address that limits count; name only your proxies.`,
    );
  }
  if (publicUrl?.startsWith('https:') === true && tls === undefined && trustedProxies.length === 0) {
    return wrong(
      'proxy',
      'a proxy speaks HTTPS for the hub, but CAIRN_TRUSTED_PROXIES is not set, so all clients count as one; set it to the address of the proxy.',
    );
  }
  return ok(
    'proxy',
    trustedProxies.length === 0 ? 'no proxy in front' : `X-Forwarded-For counts from ${trustedProxies.join(', ')}`,
  );
}

/** Checks that the public address leads to a ready hub. Waits at most `timeoutMs`. */
export async function checkPublicUrl(publicUrl: string, timeoutMs: number): Promise<Finding> {
  try {
    const { status } = await fetch(`${publicUrl}/health`, {
      headers: { 'User-Agent': 'cairn-doctor' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return status === 200
      ? ok('public address', `${publicUrl} leads to a hub`)
      : wrong('public address', `${publicUrl}/health answers ${status}; look at the proxy in front.`);
  } catch (error) {
    const { cause, message } = error as Error;
    const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
    return wrong(
      'public address',
      `${publicUrl} cannot be reached from here (${code}); look at its name, the proxy and the firewall.`,
    );
  }
}

export function checkSignup({ signup, host, publicUrl }: Config): Finding {
  const isOpen = signup.includes('open');
  const isPublic = publicUrl !== undefined || !isLoopback(host);
  return isOpen && isPublic
    ? note('sign-up', 'anyone who reaches the hub can create an account; set CAIRN_SIGNUP=invite, or closed.')
    : ok('sign-up', isOpen ? 'open' : signup.join(', '));
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'));
