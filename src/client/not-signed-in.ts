/** The hub does not know the credential of a command (any more); trying again is of no use. */
import { ClientError } from './client-error.ts';

export class NotSignedIn extends ClientError {}
