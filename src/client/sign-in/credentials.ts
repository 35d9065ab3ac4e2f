/**
 * Selects the credential that a command sends to a hub: the key of CAIRN_KEY, else the sign-in stored by `cairn login`.
 * An access token about to expire is renewed, by one process at a time.
 */
import { limits } from '../../limits/service.ts';
import { ClientError, NotSignedIn, Unreachable } from '../client-error.ts';
import { type ClientSettings, serverUrl } from '../settings.ts';
import { CredentialFile, type StoredLogin } from './credential-file.ts';
import { type IssuedTokens, Refused, refreshTokens } from './oauth.ts';

const DEFAULT_SERVER = 'http://127.0.0.1:8787';

/** The hub of a command, with the credential for it. */
export class Credentials {
  /** The address of the hub, without a slash at the end. */
  readonly server: string;
  readonly #key: string | undefined;
  readonly #file: CredentialFile;

  /** Order of precedence: `server` (an option of the command), CAIRN_SERVER, the last sign-in, the local hub. */
  constructor(settings: ClientSettings, server: string | undefined) {
    this.#file = new CredentialFile(settings.credentialFile);
    this.#key = settings.key;
    this.server = chooseServer(settings, server);
  }

  /** The name of this machine, chosen at its sign-in; undefined when the key of CAIRN_KEY is in use. */
  get deviceName(): string | undefined {
    return this.#key === undefined ? this.#file.login(this.server)?.device_name : undefined;
  }

  /** The credential in use, described for the user. */
  describe(): string {
    if (this.#key !== undefined) return 'the key of CAIRN_KEY';
    const login = this.#login();
    return login.mcp_key === null ? `the sign-in of ${login.device_name}` : `the MCP key of ${login.device_name}`;
  }

  /** Authorization for the gateway, the tools and the account: the key, else an access token. Throws ClientError. */
  async toolAuthorization(): Promise<string> {
    const key = this.#key ?? this.#login().mcp_key;
    return key === null ? await this.tokenAuthorization() : `McpKey ${key}`;
  }

  /** Authorization for the tools when it needs no request and no change of the file; undefined: it does, or there is none. */
  readyAuthorization(nowMs: number): string | undefined {
    const login = this.#key === undefined ? this.#file.login(this.server) : undefined;
    const key = this.#key ?? login?.mcp_key ?? undefined;
    if (key !== undefined) return `McpKey ${key}`;
    return login !== undefined && isFresh(login, nowMs) ? `Bearer ${login.access_token}` : undefined;
  }

  /** Authorization for issuing mirror credentials, which requires a key. Throws ClientError. */
  keyAuthorization(): string {
    const key = this.#key ?? this.#login().mcp_key;
    if (key === null) {
      throw new ClientError(`the sign-in to ${this.server} came without an MCP key; run \`cairn login\` again.`);
    }
    return `McpKey ${key}`;
  }

  /** Authorization for REST resources, which require an access token; renewed when needed. Throws ClientError. */
  async tokenAuthorization(): Promise<string> {
    if (this.#key !== undefined) {
      throw new ClientError(
        'this command needs a sign-in: CAIRN_KEY is only for tools. Unset it and run `cairn login`.',
      );
    }
    const login = this.#login();
    const fresh = isFresh(login, Date.now()) ? login : await this.#renew();
    return `Bearer ${fresh.access_token}`;
  }

  #login(): StoredLogin {
    const login = this.#file.login(this.server);
    if (login === undefined) throw notSignedIn(this.server);
    return login;
  }

  async #renew(): Promise<StoredLogin> {
    return await this.#file.change(this.server, async (login) => {
      if (login === undefined) throw notSignedIn(this.server);
      // Another process renewed it while this one waited for the lock.
      if (isFresh(login, Date.now())) return login;
      return withTokens(login, await this.#refresh(login.refresh_token), Date.now());
    });
  }

  /** Refreshes the tokens. Retries once after a lost answer: the hub briefly accepts the same refresh token again. */
  async #refresh(refreshToken: string): Promise<IssuedTokens> {
    try {
      return await refreshTokens(this.server, refreshToken).catch((error: unknown) => {
        if (error instanceof Unreachable) return refreshTokens(this.server, refreshToken);
        throw error;
      });
    } catch (error) {
      if (error instanceof Refused && error.code === 'invalid_grant') {
        throw new NotSignedIn(`the sign-in to ${this.server} has expired; run \`cairn login\`.`);
      }
      throw error;
    }
  }
}

/** The hub of a command: from its option, else CAIRN_SERVER, else the last sign-in, else the local hub. */
export function chooseServer(settings: ClientSettings, server: string | undefined): string {
  const named = server === undefined ? settings.server : serverUrl(server, '--server');
  if (named !== undefined) return named;
  // A key from the environment needs no file, so none is read.
  if (settings.key !== undefined) return DEFAULT_SERVER;
  return new CredentialFile(settings.credentialFile).current() ?? DEFAULT_SERVER;
}

/** True unless the access token has expired or is about to. */
function isFresh(login: StoredLogin, nowMs: number): boolean {
  return Date.parse(login.access_expires_at) - nowMs > limits.clientRenewMs;
}

/** A sign-in with the tokens of an answer received at `nowMs`. */
export function withTokens(
  login: Pick<StoredLogin, 'mcp_key' | 'device_name'>,
  answer: IssuedTokens,
  nowMs: number,
): StoredLogin {
  return {
    ...login,
    access_token: answer.access_token,
    access_expires_at: new Date(nowMs + answer.expires_in * 1000).toISOString(),
    refresh_token: answer.refresh_token,
  };
}

function notSignedIn(server: string): ClientError {
  return new NotSignedIn(`not signed in to ${server}; run \`cairn login --server ${server}\` or set CAIRN_KEY.`);
}
