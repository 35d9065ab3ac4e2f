/** An error that ends a client command. The message is one sentence that names the next step; exit code 1. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
}
