/** An error that ends a client command. The message is one sentence that names the next step. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  /** Exit code of the command; undefined: that of its class, usually 1. */
  readonly exitCode: number | undefined;

  constructor(message: string, exitCode?: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The hub does not accept the credential of a command, or no longer does; a retry cannot succeed. */
export class NotSignedIn extends ClientError {}

/** The hub was unreachable or its answer did not arrive. Whether the request took effect is unknown. */
export class Unreachable extends ClientError {
  /** What happened, and what a person has to mend. Without the advice to try again, which a watch does automatically. */
  readonly what: string;
  /** Code of the system error, such as ECONNRESET; undefined after a timeout, or when the hub answered. */
  readonly code: string | undefined;

  /** `next`: the advice for whoever waits at a terminal, with the punctuation before it. */
  constructor(what: string, next: string, code?: string) {
    super(`${what}${next}`);
    this.what = what;
    this.code = code;
  }
}
