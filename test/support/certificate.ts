/** A certificate of nobody's, made anew by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

export interface Certificate {
  /** PEM files. */
  readonly cert: string;
  readonly key: string;
}

interface Wish {
  /** As openssl writes them, such as `DNS:localhost,IP:127.0.0.1`. */
  readonly altNames?: string;
  readonly name?: string;
  readonly days?: number;
  /** Of the key, as `-newkey` of openssl takes it. */
  readonly algorithm?: 'ec' | 'rsa:2048';
}

export function selfSigned({ altNames, name = 'cairn.test', days = 2, algorithm = 'ec' }: Wish = {}): Certificate {
  const folder = temporaryFolder();
  const certificate = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  execFileSync(
    'openssl',
    `req -x509 -newkey ${algorithm}${algorithm === 'ec' ? ' -pkeyopt ec_paramgen_curve:prime256v1' : ''} -nodes -days ${days} -subj /CN=${name}`
      .split(' ')
      .concat(['-keyout', certificate.key, '-out', certificate.cert])
      .concat(altNames === undefined ? [] : ['-addext', `subjectAltName=${altNames}`]),
    { stdio: 'ignore' },
  );
  return certificate;
}
