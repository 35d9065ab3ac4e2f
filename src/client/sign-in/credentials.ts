/**
 * Owns what a command sends to a hub as its credential: the key of CAIRN_KEY, else what `cairn login` keeps of that hub.
 * An access token that is about to end is renewed, by one process at a time.
 */
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { Unreachable } from '../http.ts';
import { NotSignedIn } from '../not-signed-in.ts';
import { type ClientSettings, serverUrl } from '../settings.ts';
import { CredentialFile, type StoredLogin } from './credential-file.ts';
import { Refused, refreshTokens, type TokenAnswer } from './oauth.ts';

const DEFAULT_SERVER = 'http://127.0.0.1:8787';

/** Whom a command speaks to, and as whom. */
export class Credentials {
  /** The address of the hub, without a slash at the end. */
  readonly server: string;
  readonly #key: string | undefined;
  readonly #file: CredentialFile;

  /** `server` (an option of the command) goes before CAIRN_SERVER, the last sign-in, and the local hub. */
  constructor(settings: ClientSettings, server: string | undefined) {
    this.#file = new CredentialFile(settings.credentialFile);
    this.#key = settings.key;
    this.server = chooseServer(settings, server);
  }

  /** What is at hand, in words for the user. */
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

  /** Authorization for the issue of mirror credentials, which takes a key only. Throws ClientError. */
  keyAuthorization(): string {
    const key = this.#key ?? this.#login().mcp_key;
    if (key === null) {
      throw new ClientError(`the sign-in to ${this.server} came without an MCP key; run cairn login again.`);
    }
    return `McpKey ${key}`;
  }

  /** Authorization for REST resources, which take an access token only; renewed when needed. Throws ClientError. */
  async tokenAuthorization(): Promise<string> {
    if (this.#key !== undefined) {
      throw new ClientError('CAIRN_KEY opens tools, not REST resources; unset it and run cairn login.');
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
      // Another process renewed it while this one waited.
      if (isFresh(login, Date.now())) return login;
      return withTokens(login, await this.#refresh(login.refresh_token), Date.now());
    });
  }

  /** An answer that got lost is asked for once more: the hub takes the same refresh token again for a short while. */
  async #refresh(refreshToken: string): Promise<TokenAnswer> {
    try {
      return await refreshTokens(this.server, refreshToken).catch((error: unknown) => {
        if (error instanceof Unreachable) return refreshTokens(this.server, refreshToken);
        throw error;
      });
    } catch (error) {
      if (error instanceof Refused && error.code === 'invalid_grant') {
        throw new NotSignedIn(`The sign-in to ${this.server} has expired; run \`cairn login\`.`);
      }
      throw error;
    }
  }
}

/** The hub that a command speaks to: the one of its option, of CAIRN_SERVER, of the last sign-in, else the local one. */
export function chooseServer(settings: ClientSettings, server: string | undefined): string {
  const named = server === undefined ? settings.server : serverUrl(server, '--server');
  if (named !== undefined) return named;
  // With a key from the environment no file is needed, so none is read.
  if (settings.key !== undefined) return DEFAULT_SERVER;
  return new CredentialFile(settings.credentialFile).current() ?? DEFAULT_SERVER;
}

/** True while the access token has some time left. */
function isFresh(login: StoredLogin, nowMs: number): boolean {
  return Date.parse(login.access_expires_at) - nowMs > limits.clientRenewMs;
}

/** A sign-in with the tokens of an answer that came at `nowMs`. */
export function withTokens(
  login: Pick<StoredLogin, 'mcp_key' | 'device_name'>,
  answer: TokenAnswer,
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
  return new NotSignedIn(`Not signed in to ${server}. Run \`cairn login --server ${server}\` or set CAIRN_KEY.`);
}
