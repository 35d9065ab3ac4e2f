/** A small identity provider: discovery, a key set that can be rotated or broken, and tokens of every kind. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const AUDIENCE = 'https://hub.example.org';

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface TokenOptions {
  readonly claims?: JWTPayload;
  /** Claims that are left out. */
  readonly without?: readonly string[];
  readonly key?: SigningKey;
  readonly header?: Readonly<Record<string, unknown>>;
}

export class Issuer {
  readonly url: string;
  /** Requests by path, in order. */
  readonly asked: string[] = [];
  /** How it answers instead of as it should; undefined: as it should. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** What the key set holds. */
  published: JWK[] = [];
  key: SigningKey;
  readonly #server: Server;

  private constructor(server: Server, key: SigningKey) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.key = key;
    this.published = [key.publicJwk];
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response));
  }

  static async start(port = 0, alg = 'RS256'): Promise<Issuer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return new Issuer(server, await makeSigningKey(alg));
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Signs with a new key from now on; unless both are published, the old one is withdrawn. */
  async rotate({ keepOld = false, alg = 'RS256' } = {}): Promise<void> {
    this.key = await makeSigningKey(alg);
    this.published = [this.key.publicJwk, ...(keepOld ? this.published : [])];
  }

  /** A token that is right in everything but what the options say. */
  async token(subject: string, { claims = {}, without = [], key = this.key, header = {} }: TokenOptions = {}) {
    const now = Math.floor(Date.now() / 1000);
    const all: JWTPayload = { iss: this.url, aud: AUDIENCE, sub: subject, iat: now, exp: now + 300, ...claims };
    const kept = Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)));
    return await new SignJWT(kept).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.asked.push(path);
    if (this.misbehave?.(request, response) === true) return;
    const documents: Readonly<Record<string, unknown>> = {
      '/.well-known/openid-configuration': { issuer: this.url, jwks_uri: `${this.url}/keys` },
      '/keys': { keys: this.published },
    };
    const found = documents[path];
    response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(found ?? {}));
  }
}

export async function makeSigningKey(alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const kid = crypto.randomUUID();
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}
