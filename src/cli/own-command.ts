/** How this command is started again: by services that it installs. */
import { realpathSync } from 'node:fs';
import { isSea } from 'node:sea';

/** The program and its first arguments that start this command again, as absolute paths. A single executable starts alone. */
export const ownCommand = (): readonly string[] => {
  const program = realpathSync(process.execPath);
  return isSea() ? [program] : [program, realpathSync(process.argv[1] ?? '')];
};
