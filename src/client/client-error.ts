/** An error that ends a client command. The message is one sentence that names the next step; exit code 1. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
}

/** The hub does not accept the credential of a command, or no longer does; a retry cannot succeed. */
export class NotSignedIn extends ClientError {}
