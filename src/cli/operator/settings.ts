/** Reads the settings of an operator command. A service refuses variables that are no settings; a shell may have them. */
import { type Config, readConfig } from '../../config.ts';
import { printError } from '../output.ts';

/** The settings of this shell. Reports each variable that is ignored. Throws StartError as `readConfig` does. */
export function operatorConfig(): Config {
  return readConfig(undefined, (name) => printError(`cairn: ${name} is not a setting and is ignored.`));
}
