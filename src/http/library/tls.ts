/** Checks the TLS files before the HTTP library reads them, because its errors have no details. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { StartError } from '../../common/start-error.ts';

/** Expiry of the certificate in a file, in milliseconds since the epoch. The file must have been checked. */
export function certificateExpiry({ certFile }: Pick<TlsFiles, 'certFile'>): number {
  return Date.parse(new X509Certificate(readFileSync(certFile)).validTo);
}

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Throws StartError when a file cannot be read, is not a PEM of its kind, or certificate and key do not match. */
export function checkTlsFiles({ certFile, keyFile }: TlsFiles): void {
  const cert = readSetting('CAIRN_TLS_CERT', certFile);
  const key = readSetting('CAIRN_TLS_KEY', keyFile);
  checkPem('CAIRN_TLS_CERT must name a PEM certificate', () => createSecureContext({ cert }));
  checkPem('CAIRN_TLS_KEY must name an unencrypted PEM private key', () => createSecureContext({ key }));
  checkPem('CAIRN_TLS_KEY does not belong to CAIRN_TLS_CERT', () => createSecureContext({ cert, key }));
}

function readSetting(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`${name} must name a file that this user can read (${code ?? 'unknown error'}).`);
  }
}

function checkPem(sentence: string, attempt: () => unknown): void {
  try {
    attempt();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`${sentence} (${code ?? 'unknown error'}).`);
  }
}
