/** Owns what the pages ask of the rest of the service; parts.ts gives them what fits. Types only. */

import type { Session } from '../common/session.ts';
import type { Reply } from '../http/reply/reply.ts';
import type { RouteRequest } from '../http/route/route.ts';
import type { VaultService } from './vaults/services.ts';

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

/** A device that asks to be signed in; its name and its client are its own words. */
export interface DeviceRequest {
  readonly user_code: string;
  readonly client: string;
  readonly device_name: string | null;
  readonly scope: string;
  readonly address: string;
  readonly asked_at: string;
  readonly expires_at: string;
}

interface DeviceService {
  /** Refuses with `not_found`, and with `rate_limited` after too many wrong codes. */
  describe(userCode: string, who: { readonly address: string; readonly accountId?: string | undefined }): DeviceRequest;
  approve(userCode: string, accountId: string): Promise<DeviceRequest>;
  deny(userCode: string, accountId: string): Promise<DeviceRequest>;
}

export interface SignedInDevice {
  readonly sign_in_id: string;
  readonly client_id: string;
  readonly device_name: string | null;
  readonly scope: string;
  readonly created_at: string;
  readonly used_at: string;
  readonly expires_at: string;
}

interface SignInService {
  list(accountId: string): SignedInDevice[];
  end(accountId: string, signInId: string): Promise<void>;
}

interface TokenRow {
  readonly token_id: string;
  readonly sign_in_id: string | null;
  readonly expires_at: string;
}

interface TokenService {
  list(accountId: string): TokenRow[];
  endNamed(accountId: string, tokenId: string): Promise<void>;
}

interface IdentityRow {
  readonly identity_id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly label: string | null;
  readonly linked_at: string;
}

interface IdentityService {
  /** The identity provider whose tokens can be linked; undefined: there is none. */
  readonly issuer: string | undefined;
  list(accountId: string): IdentityRow[];
  /** Refuses with `invalid_fields` on `token`, and with `rate_limited` after wrong tries. */
  link(accountId: string, token: string): Promise<IdentityRow>;
  unlink(accountId: string, identityId: string): Promise<void>;
}

/** What to paste into a client to connect it. */
export interface SetupStep {
  readonly client: string;
  readonly title: string;
  readonly where: string;
  readonly paste: string;
}

export interface BlobRow {
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
export interface CredentialState {
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

export type BoardStatus = 'backlog' | 'todo' | 'in_progress' | 'done';

export interface TaskRow {
  readonly id: number;
  readonly content: string;
  readonly due_date: string | null;
  readonly is_important: boolean;
  readonly category_id: number | null;
  readonly kanban_status: BoardStatus;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CategoryRow {
  readonly id: number;
  readonly name: string;
  readonly color: string | null;
  readonly task_count: number;
}

interface TaskService {
  list(
    accountId: string,
    request: {
      readonly filter: { readonly kanbanStatus: BoardStatus; readonly categoryId?: number };
      readonly order: { readonly sortBy: 'due_date' | 'completed_at'; readonly descending: boolean };
      readonly offset: number;
      readonly limit: number;
    },
  ): { readonly tasks: readonly TaskRow[]; readonly total: number };
  get(accountId: string, id: number | undefined): TaskRow;
  /** The document is a caller's: it is checked, and refused with `invalid_fields`. */
  create(accountId: string, document: unknown): Promise<TaskRow>;
  patch(
    accountId: string,
    id: number | undefined,
    document: unknown,
    options?: { readonly restore?: boolean },
  ): Promise<TaskRow>;
  remove(accountId: string, id: number | undefined): Promise<unknown>;
  readonly categories: { list(accountId: string): CategoryRow[] };
}

/** Everything that the pages are opened over. */
export interface WebServices {
  readonly accounts: AccountService;
  readonly sessions: SessionService;
  readonly logins: LoginService;
  readonly signUps: SignUpService;
  readonly devices: DeviceService;
  readonly signIns: SignInService;
  readonly tokens: TokenService;
  readonly identities: IdentityService;
  readonly mirror: MirrorService;
  readonly tasks: TaskService;
  readonly vaults: VaultService;
  readonly setupSteps: (baseUrl: string) => readonly SetupStep[];
}
