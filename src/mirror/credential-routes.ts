/** Declares the REST operations of the mirror credential and of those of CI jobs. */
import { auditSourceOf } from '../audit/note.ts';
import type { Source } from '../audit/records.ts';
import type { PathParameter } from '../http/route/doc.ts';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route, RouteRequest } from '../http/route/route.ts';
import type { MirrorCredentials } from './credentials.ts';
import { declaredBlob, SHA256_EXAMPLE } from './declared.ts';
import { credentialRequest, newUploader, rotationRequest } from './fields.ts';
import type { Uploaders } from './uploaders.ts';
import * as views from './views.ts';

interface CredentialRoutesOptions {
  readonly credentials: MirrorCredentials;
  readonly uploaders: Uploaders;
  /** Accepts account keys and MCP keys. */
  readonly accountAccess: Authenticator;
}

const BASE = '/api/cert_mirror';
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0';
const AT = declaredBlob.example.uploaded_at;

export function credentialRoutes({ credentials, accountAccess }: CredentialRoutesOptions): Route[] {
  const all = { path: `${BASE}/credentials`, tag: 'mirror', access: accountAccess } as const;
  return [
    operation({
      ...all,
      method: 'POST',
      operationId: 'mirrorIssueCredential',
      writes: 'the mirror token also removes backups: it',
      summary: 'Issues the mirror credential of the account, or returns the existing one',
      description:
        'With rotate the credential is destroyed and created again: the old token gets 401 at once, and blobs that were ' +
        'uploaded under it cannot be downloaded until they are uploaded again. mirrorRotateCredential keeps them readable.',
      body: credentialRequest,
      bodyRequired: false,
      example: { rotate: false },
      answer: {
        description: 'The credential',
        schema: views.issuedCredential.meta({ title: 'MirrorCredential' }),
        example: {
          status: 'created',
          token: TOKEN,
          hmac_secret: SHA256_EXAMPLE,
          message: "Copy hmac_secret now: you won't see it again.",
        },
      },
      handle: ({ body, request }, { accountId }) => credentials.issue(accountId, body.rotate, clientOf(request)),
    }),
    operation({
      ...all,
      method: 'DELETE',
      operationId: 'mirrorDeleteCredential',
      summary: 'Destroys the mirror credential',
      description:
        'Credentials of CI jobs end with it. Blobs stay stored, and cannot be downloaded until they are uploaded again under a new credential.',
      answer: {
        description: 'It is gone',
        schema: views.destroyedCredential,
        example: { status: 'deleted', message: 'The mirror credential is gone.' },
      },
      refusals: [404],
      async handle({ request }, { accountId }) {
        await credentials.destroy(accountId, clientOf(request));
        return {
          status: 'deleted' as const,
          message:
            'The mirror credential was deleted. Blobs stay stored; to download them, upload them again with a new credential.',
        };
      },
    }),
  ];
}

/** What keeps archives readable: how many there are, and the rotation that does. */
export function rotationRoutes({ credentials, accountAccess }: CredentialRoutesOptions): Route[] {
  const all = { path: `${BASE}/credentials`, tag: 'mirror', access: accountAccess } as const;
  return [
    operation({
      ...all,
      method: 'GET',
      operationId: 'mirrorCredential',
      summary: 'Tells whether a credential exists, and how many archives it can read',
      answer: {
        description: 'The state',
        schema: views.credentialState,
        example: { exists: true, created_at: AT, archives_readable: 240, archives_unreadable: 0 },
      },
      handle(_call, { accountId }) {
        const current = credentials.current(accountId);
        const { readable, unreadable } = credentials.archives(accountId);
        return {
          exists: current !== undefined,
          created_at: current?.createdAt ?? null,
          archives_readable: readable,
          archives_unreadable: unreadable,
        };
      },
    }),
    operation({
      ...all,
      path: `${all.path}/rotation`,
      method: 'POST',
      operationId: 'mirrorRotateCredential',
      summary: 'Replaces the credential and keeps every readable archive readable',
      description:
        'One commit: the old token is 401 from then on, and what it could download the new one can, with the same times. ' +
        'If the answer is lost, send it again. Credentials of CI jobs stay valid.',
      body: rotationRequest,
      bodyRequired: false,
      example: {},
      answer: {
        description: 'The new credential',
        schema: views.rotatedCredential,
        example: {
          status: 'created',
          token: TOKEN,
          hmac_secret: SHA256_EXAMPLE,
          message: "The old credential no longer works. Copy hmac_secret now: you won't see it again.",
          archives_kept: 240,
          archives_unreadable: 0,
        },
      },
      refusals: [404],
      handle(given, { accountId }) {
        // Reads the body to refuse one that is not an object.
        void given.body;
        return credentials.rotate(accountId, clientOf(given.request));
      },
    }),
  ];
}

export function uploaderRoutes({ uploaders, accountAccess }: CredentialRoutesOptions): Route[] {
  const all = { path: `${BASE}/credentials/uploaders`, tag: 'mirror', access: accountAccess } as const;
  const example = { id: 'mu_0f1e2d3c4b5a6978', name: 'github-actions', access: 'upload', created_at: AT } as const;
  return [
    operation({
      ...all,
      method: 'POST',
      operationId: 'mirrorCreateUploader',
      summary: 'Creates a credential that may upload and nothing else, or list and download and nothing else',
      description:
        'For a CI job: its token is 403 on every other request. What it uploads belongs to the credential of the account, ' +
        'so revoking it leaves that readable.',
      body: newUploader,
      example: { name: 'github-actions', access: 'upload' },
      answer: {
        status: 201,
        description: 'Created; token and secret are shown only now',
        schema: views.newUploaderView.meta({ title: 'NewMirrorUploader' }),
        example: { ...example, token: TOKEN, hmac_secret: SHA256_EXAMPLE },
      },
      refusals: [404, 409],
      handle: ({ body, request }, { accountId }) => uploaders.create(accountId, body, clientOf(request)),
    }),
    operation({
      ...all,
      method: 'GET',
      operationId: 'mirrorListUploaders',
      summary: 'Lists the credentials of CI jobs',
      answer: { description: 'Oldest first', schema: views.uploaderList, example: { uploaders: [example] } },
      handle: (_call, { accountId }) => ({ uploaders: uploaders.list(accountId) }),
    }),
    operation({
      ...all,
      path: `${BASE}/credentials/uploaders/:id`,
      method: 'DELETE',
      operationId: 'mirrorRevokeUploader',
      summary: 'Revokes the credential of a CI job',
      params: { id: uploaderId },
      answer: { status: 204, description: 'Its token is 401 from now on; its archives stay readable' },
      handle: ({ params, request }, { accountId }) => uploaders.revoke(accountId, params.id, clientOf(request)),
    }),
  ];
}

const uploaderId: PathParameter<string> = {
  description: 'Id of the credential',
  schema: { type: 'string' },
  example: 'mu_0f1e2d3c4b5a6978',
  read: (segment) => segment,
};

function clientOf(request: Pick<RouteRequest, 'address' | 'header'>): Source {
  return auditSourceOf('client', request.address, request.header('user-agent'));
}
