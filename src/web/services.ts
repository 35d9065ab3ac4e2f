/** Owns what the pages ask of the rest of the service; parts.ts gives them what fits. Types only. */

import type { Reply } from '../http/reply.ts';
import type { RouteRequest } from '../http/route.ts';
import type { Session } from '../session.ts';

interface NewAccount {
  readonly account_id: string;
  readonly email: string;
  readonly account_key: string;
  readonly mcp_key: string;
}

export interface KeyRow {
  readonly key_id: string;
  readonly kind: 'account' | 'mcp';
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

interface AccountService {
  describe(accountId: string): { readonly email: string; readonly name: string | null; readonly created_at: string };
  listKeys(accountId: string): KeyRow[];
  createKey(accountId: string, name: string): Promise<{ readonly name: string; readonly mcp_key: string }>;
  revokeKey(accountId: string, keyId: string): Promise<void>;
  rollAccountKey(accountId: string): Promise<string>;
}

export interface SessionService {
  start(accountId: string, agent: string): Promise<string>;
  find(id: string): Session | undefined;
  end(id: string): Promise<void>;
  endNamed(accountId: string, sessionId: string): Promise<void>;
  list(accountId: string): {
    readonly session_id: string;
    readonly agent: string | null;
    readonly created_at: string;
    readonly last_seen_at: string;
  }[];
}

interface LoginService {
  /** Gives the account; refuses with `wrong_login`. */
  check(login: { readonly email: string; readonly password: string; readonly address: string }): Promise<string>;
  changePassword(change: {
    readonly accountId: string;
    readonly current: string;
    readonly next: string;
    readonly keptSessionId: string;
    readonly address: string;
  }): Promise<void>;
}

interface SignUpService {
  signUp(input: {
    readonly email: string;
    readonly password: string;
    readonly address: string;
    readonly name?: string | undefined;
  }): Promise<NewAccount>;
}

/** What to paste into a client to connect it. */
export interface SetupStep {
  readonly client: string;
  readonly title: string;
  readonly where: string;
  readonly paste: string;
}

interface BlobRow {
  readonly commitSha: string;
  readonly sha256: string;
  readonly record: {
    readonly byte_size: number;
    readonly uploaded_at: string;
    readonly uploaded_by: string | null;
    readonly credential_id: string;
  };
}

/** The account's mirror credential, without its secrets. */
interface CredentialState {
  readonly credentialId: string;
  readonly createdAt: string;
}

interface MirrorService {
  credential(accountId: string): CredentialState | undefined;
  issue(accountId: string, rotate: boolean): Promise<{ readonly token: string; readonly hmac_secret: string | null }>;
  destroy(accountId: string): Promise<void>;
  list(
    accountId: string,
    page: { readonly limit: number; readonly before?: number },
  ): { readonly blobs: readonly BlobRow[]; readonly nextBefore: number | undefined };
  /** The answer to a download, conditional and by range. */
  download(request: RouteRequest, session: Session): Reply;
}

/** Everything that the pages are opened over. */
export interface WebServices {
  readonly accounts: AccountService;
  readonly sessions: SessionService;
  readonly logins: LoginService;
  readonly signUps: SignUpService;
  readonly mirror: MirrorService;
  readonly setupSteps: (baseUrl: string) => readonly SetupStep[];
}
