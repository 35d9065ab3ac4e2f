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
