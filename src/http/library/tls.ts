/** Checks the TLS files before the HTTP library reads them, because its errors have no details, and notes what they had. */
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

/**
 * The cipher suites of TLS 1.2 with forward secrecy and authenticated encryption; TLS 1.3 has no others. The defaults of the library
 * also have an RSA key exchange and CBC with SHA-1.
 */
const SUITES_OF_TLS_1_2 = ['AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES128-GCM-SHA256']
  .flatMap((suite) => [`ECDHE-ECDSA-${suite}`, `ECDHE-RSA-${suite}`])
  .join(':');

/** What the HTTP library gets for a port with TLS. */
export function tlsOptionsOf({ certFile, keyFile }: TlsFiles): Readonly<Record<string, string>> {
  return { cert_file_name: certFile, key_file_name: keyFile, ssl_ciphers: SUITES_OF_TLS_1_2 };
}

/** The certificate that new connections get. */
export class Certificate {
  readonly #files: TlsFiles;
  #text = '';
  #expiresMs = 0;

  /** Throws StartError when the files cannot be used. */
  constructor(files: TlsFiles) {
    this.#files = files;
    this.renew(() => undefined);
  }

  /** In milliseconds since the epoch. */
  get expiresMs(): number {
    return this.#expiresMs;
  }

  /**
   * Calls `use` when the files have another certificate than before; it must read them. Returns false when they do not.
   * @throws StartError when the files cannot be used, or what `use` throws; nothing has changed then
   */
  renew(use: () => void): boolean {
    const { certFile } = this.#files;
    checkTlsFiles(this.#files);
    const text = readFileSync(certFile, 'utf8');
    if (text === this.#text) return false;
    use();
    this.#text = text;
    this.#expiresMs = certificateExpiry(this.#files);
    return true;
  }
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
