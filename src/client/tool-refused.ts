/** The error of a refused tool call. */
import { ClientError } from './client-error.ts';

/** JSON-RPC code of a conflict with another change. */
const CONFLICT = -32006;
/** JSON-RPC code of a credential that may not write. */
const FORBIDDEN = -32003;
/** JSON-RPC code of a path that does not exist. */
const NOT_FOUND = -32005;
/** JSON-RPC codes of a full quota, and of a hub whose disk takes no writes. Earlier hubs answer the first for a full disk. */
const QUOTA = -32004;
const STORAGE = -32008;
const INTERNAL = -32603;
/** JSON-RPC codes of answers that contain a retry time. */
const RATE_LIMITED = -32029;
const BUSY = -32007;

/** A hub refused a tool call. The message is a sentence for the user. */
export class ToolRefused extends ClientError {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: number, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** True when the change conflicts with another one, so that the user has to choose. */
  get isConflict(): boolean {
    return this.code === CONFLICT;
  }

  /** True when the hub has no room for the change now. */
  get isFull(): boolean {
    return this.code === QUOTA || this.code === STORAGE;
  }

  /** True when this credential may not make the change, whatever it contains. */
  get isForbidden(): boolean {
    return this.code === FORBIDDEN;
  }

  /** True when the hub never had what was asked for. */
  get isNotFound(): boolean {
    return this.code === NOT_FOUND;
  }

  /** True when the hub failed, whatever the call was. */
  get isHubFailure(): boolean {
    return this.code === INTERNAL || (this.code === STORAGE && this.data['reason'] === 'storage_failed');
  }

  /** Seconds until the same call may be accepted; undefined when waiting does not help. */
  get waitSeconds(): number | undefined {
    if (this.code !== RATE_LIMITED && this.code !== BUSY) return undefined;
    const seconds = this.data['retry_after_seconds'];
    return typeof seconds === 'number' ? Math.max(1, seconds) : 1;
  }
}

/**
 * True when the cursor of a pull is invalid: the hub was restored from a backup, or it is another hub, which does not know
 * the cursor at all.
 */
export function isOutdated(error: unknown): boolean {
  return error instanceof ToolRefused && (error.data['resync_required'] === true || error.data['field'] === 'cursor');
}
