/** Opens the tools of a hub: the one named by an option, by the environment or by the last sign-in. */

import { readClientSettings } from '../../client/settings.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import { type Paces, type Tongue, ToolClient } from '../../client/tools.ts';

export interface ToolAccess {
  readonly server: string;
  readonly tools: ToolClient;
  /** The name of this machine, chosen at its sign-in. */
  readonly deviceName: string | undefined;
}

/** Opens the tools with the credential of this machine. Throws ClientError when a setting is invalid. */
export function openTools(
  serverOption: string | undefined,
  paces: Paces = {},
  tongue: Tongue = 'commands',
): ToolAccess {
  const credentials = new Credentials(readClientSettings(), serverOption);
  const { server, deviceName } = credentials;
  return { server, deviceName, tools: new ToolClient(credentials, paces, tongue) };
}
