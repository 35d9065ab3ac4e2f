/** Owns what commands over tools open: the hub that an option, the environment or the last sign-in names, as its user. */

import { readClientSettings } from '../../client/settings.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import { type Paces, ToolClient } from '../../client/tools.ts';

export interface ToolAccess {
  readonly server: string;
  readonly tools: ToolClient;
}

/** Throws ClientError when a setting is wrong. */
export function openTools(serverOption: string | undefined, paces: Paces = {}): ToolAccess {
  const credentials = new Credentials(readClientSettings(), serverOption);
  return { server: credentials.server, tools: new ToolClient(credentials, paces) };
}
