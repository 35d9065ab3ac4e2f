/**
 * Fetches a client ID metadata document (draft-ietf-oauth-client-id-metadata-document): the client_id is the https
 * address of a JSON document about the client. A stranger chooses that address, so the request goes only to public
 * addresses, connects to the address already checked (no second look-up), follows no redirect, and is bounded in bytes
 * and time.
 */
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { isIP } from 'node:net';
import { isPublicAddress } from '../../common/public-address.ts';
import { NotPublic, publicLookup } from '../../common/public-lookup.ts';
import { version } from '../../common/version.ts';
import { limits } from '../../limits/service.ts';
import { oauthRefusal } from '../rules.ts';
import { type ClientMetadata, readClientMetadata } from './client-metadata.ts';

interface DocumentOptions {
  /** Also accepts documents at private addresses, on any port: for a hub on the same network as its clients. */
  readonly allowPrivate: boolean;
}

/** True when a client_id is the address of a document. */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith('https://');
}

/** Fetches and reads the metadata document of a client. Throws Refusal `invalid_client` with the reason. */
export async function fetchClientDocument(clientId: string, options: DocumentOptions): Promise<ClientMetadata> {
  const url = checkAddress(clientId, options);
  const text = await fetchText(url, options);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refuse('it is not valid JSON');
  }
  const { client_id: stated, token_endpoint_auth_method: method } = (parsed ?? {}) as Record<string, unknown>;
  if (stated !== clientId) throw refuse('its client_id must be the address that it was fetched from');
  if (method !== undefined && method !== 'none') {
    throw refuse('its token_endpoint_auth_method must be none, because clients have no secret here');
  }
  return readClientMetadata(parsed);
}

/** Checks the rules of the draft, section 3, and requires the default port. */
function checkAddress(clientId: string, { allowPrivate }: DocumentOptions): URL {
  const url = URL.canParse(clientId) ? new URL(clientId) : undefined;
  if (url === undefined || url.href !== clientId || url.pathname === '/') {
    throw refuse('its address must be a plain https address with a path');
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw refuse('its address must not have a user name, a password or a fragment');
  }
  if (!allowPrivate && url.port !== '') throw refuse('its address must not name a port');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw refuse('its address is not public');
  return url;
}

function fetchText(url: URL, { allowPrivate }: DocumentOptions): Promise<string> {
  const options: RequestOptions = {
    method: 'GET',
    headers: { Accept: 'application/json', 'User-Agent': `cairn/${version}` },
    agent: false,
    maxHeaderSize: limits.clientDocumentBytesMax,
    ...(allowPrivate ? {} : { lookup: publicLookup }),
  };
  return new Promise((done, fail) => {
    const late = setTimeout(() => {
      sent.destroy(refuse(`it did not arrive within ${limits.clientDocumentMs / 1000} seconds`));
    }, limits.clientDocumentMs);
    const settle = <T>(how: (value: T) => void) => {
      return (value: T) => {
        clearTimeout(late);
        how(value);
      };
    };
    const sent = request(url, options, (answer) => readAnswer(answer).then(settle(done), settle(fail)));
    sent.on(
      'error',
      settle((error: Error) => fail(reasonOf(error))),
    );
    sent.end();
  });
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  const status = answer.statusCode ?? 0;
  try {
    if (status >= 300 && status < 400) throw refuse('its address redirects; use the address that it leads to');
    if (status !== 200) throw refuse(`its address answers with status ${status}`);
    const type = answer.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (!/^application\/(?:[a-z0-9.+-]+\+)?json$/.test(type)) throw refuse('it must be served as application/json');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limits.clientDocumentBytesMax) {
        throw refuse(`it is larger than ${limits.clientDocumentBytesMax} bytes`);
      }
      chunks.push(chunk);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw error instanceof TypeError ? refuse('it is not valid UTF-8') : error;
  } finally {
    answer.destroy();
  }
}

function reasonOf(error: Error): Error {
  if (error instanceof NotPublic) return refuse('its host has an address that is not public');
  return error.name === 'Refusal' ? error : refuse('it cannot be reached');
}

function refuse(what: string) {
  return oauthRefusal('invalid_client', `the client metadata document cannot be used: ${what}`);
}
