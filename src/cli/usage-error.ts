/** An invalid command line; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose help to point to; undefined: that of all commands. */
  readonly command: string | undefined;

  constructor(message: string, command?: string) {
    super(message);
    this.command = command;
  }
}
