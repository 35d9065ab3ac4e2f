/** A client command that cannot go on, told in one sentence that says what to do; exit code 1. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
}
