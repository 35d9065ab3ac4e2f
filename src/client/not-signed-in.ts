/** The hub does not accept the credential of a command, or no longer does; a retry cannot succeed. */
import { ClientError } from './client-error.ts';

export class NotSignedIn extends ClientError {}
