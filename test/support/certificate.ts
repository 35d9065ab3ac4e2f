/** A certificate of nobody's, made anew by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

export interface Certificate {
  /** PEM files. */
  readonly cert: string;
  readonly key: string;
}

/** `altNames`: as openssl writes them, such as `DNS:localhost,IP:127.0.0.1`. */
export function selfSigned(altNames?: string): Certificate {
  const folder = temporaryFolder();
  const certificate = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  execFileSync(
    'openssl',
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=cairn.test'
      .split(' ')
      .concat(['-keyout', certificate.key, '-out', certificate.cert])
      .concat(altNames === undefined ? [] : ['-addext', `subjectAltName=${altNames}`]),
    { stdio: 'ignore' },
  );
  return certificate;
}
