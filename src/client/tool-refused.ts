/** What a tool of a hub says when it says no. */
import { ClientError } from './client-error.ts';

/** JSON-RPC code of a change that met another. */
const CONFLICT = -32006;
/** JSON-RPC codes that say when to try again. */
const RATE_LIMITED = -32029;
const BUSY = -32007;

/** A tool said no, in a sentence for the user. */
export class ToolRefused extends ClientError {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: number, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** The change met another one: the user has to choose. */
  get isConflict(): boolean {
    return this.code === CONFLICT;
  }

  /** After how many seconds the same call may be accepted; undefined: waiting changes nothing. */
  get waitSeconds(): number | undefined {
    if (this.code !== RATE_LIMITED && this.code !== BUSY) return undefined;
    const seconds = this.data['retry_after_seconds'];
    return typeof seconds === 'number' ? Math.max(1, seconds) : 1;
  }
}
