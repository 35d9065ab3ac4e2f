/** The address under which people reach a hub, as far as its settings define it. */
import type { Config } from '../config.ts';

/** The public URL of this hub, or its address for a browser on this machine. */
export function ownAddress({ host, publicUrl, tls }: Config, port: number): string {
  if (publicUrl !== undefined) return publicUrl;
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`;
}
