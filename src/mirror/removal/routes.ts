/** Declares the REST operation that removes archives. */
import { auditSourceOf } from '../../audit/note.ts';
import { operation } from '../../http/route/operation.ts';
import type { Authenticator, Route } from '../../http/route/route.ts';
import { COMMIT_EXAMPLE, SHA256_EXAMPLE } from '../declared.ts';
import { removalRequest } from '../fields.ts';
import { removedArchives } from '../views.ts';
import type { Removals } from './removals.ts';

interface RemovalRoutesOptions {
  readonly removals: Removals;
  readonly mirrorAccess: Authenticator;
}

export function removalRoutes({ removals, mirrorAccess }: RemovalRoutesOptions): Route[] {
  return [
    operation({
      method: 'POST',
      path: '/api/cert_mirror/removals',
      operationId: 'mirrorRemoveArchives',
      tag: 'mirror',
      summary: 'Removes archives permanently',
      description:
        'All or none: 422 when a remaining archive needs one of them to be restored, or when one is the newest of its ' +
        'repository. Archives that do not exist are skipped, so it is safe to send it again.',
      access: mirrorAccess,
      body: removalRequest,
      example: { archives: [{ commit_sha: COMMIT_EXAMPLE, sha256: SHA256_EXAMPLE }] },
      answer: { description: 'They are gone', schema: removedArchives, example: { removed: 1, bytes: 48213 } },
      handle: ({ body, request }, { accountId }) =>
        removals.remove(
          accountId,
          body.archives,
          auditSourceOf('client', request.address, request.header('user-agent')),
        ),
    }),
  ];
}
