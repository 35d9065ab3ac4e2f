/** Reports why the program cannot start, in one sentence for the operator; printed without a stack, exit code 1. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
