/** Describes the routes of the certificate mirror for OpenAPI. */
import { jsonSchema } from '../fields/json-schema.ts';
import { jsonContent, type ParameterDoc, parametersOf, type RouteDoc } from '../http/route/doc.ts';
import { limits } from '../limits/service.ts';
import { credentialRequest, listQuery, uploadHeaders } from './fields.ts';
import * as views from './views.ts';

const COMMIT = '8f14e45fceea167a5a36dedd4bea2543f1a0c7d9';
const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0';
const BYTES = 'application/octet-stream';

const commitSha = { type: 'string', pattern: '^[0-9a-f]{40}$' } as const;

const stored = { commit_sha: COMMIT, sha256: SHA256, byte_size: 48213, uploaded_at: '2026-11-20T20:18:57.123Z' };

const uploadedBlob = { title: 'UploadedBlob', ...jsonSchema(views.uploadedBlob, 'output') };
const latestBlob = { title: 'LatestBlob', ...jsonSchema(views.latestBlob, 'output') };
const issuedCredential = { title: 'MirrorCredential', ...jsonSchema(views.issuedCredential, 'output') };

const HEADER_EXAMPLES: Readonly<Record<string, string>> = {
  'X-Commit-Sha': COMMIT,
  'X-Tarball-Sha256': SHA256,
  'X-Mirror-Signature': `sha256=${SHA256}`,
  'X-Uploaded-By': 'ci-runner-7',
};
const headerParameters = parametersOf('header', uploadHeaders).map((parameter) => ({
  ...parameter,
  example: HEADER_EXAMPLES[parameter.name],
}));

const downloadParameters: readonly ParameterDoc[] = [
  { name: 'sha', in: 'path', description: 'Commit of the blob', schema: commitSha, example: COMMIT },
  {
    name: 'sha256',
    in: 'query',
    description: 'SHA-256 of an older blob of the commit; absent: the newest',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description: "ETag of the client's copy; if it still matches, the answer is 304",
    schema: { type: 'string' },
  },
  {
    name: 'Range',
    in: 'header',
    description: 'One range of bytes; several ranges get the whole blob',
    schema: { type: 'string' },
    example: 'bytes=0-1023',
  },
  {
    name: 'If-Range',
    in: 'header',
    description: 'The range applies only if the ETag is this one',
    schema: { type: 'string' },
  },
];

const CREDENTIAL = { tag: 'mirror', security: ['McpKey'] } as const;
const MIRROR = { tag: 'mirror', security: ['MirrorToken'] } as const;
const TARBALL_HEADERS = ['ETag', 'Accept-Ranges', 'X-Tarball-Sha256'] as const;

export const mirrorOperations = {
  issueCredential: {
    ...CREDENTIAL,
    operationId: 'mirrorIssueCredential',
    summary: 'Issues the mirror credential of the account, or returns the existing one',
    description:
      'With rotate the credential is destroyed and created again: the old token gets 401 at once, and blobs that were ' +
      'uploaded under it cannot be downloaded until they are uploaded again.',
    request: {
      required: false,
      ...jsonContent(jsonSchema(credentialRequest, 'input'), { rotate: false }),
    },
    answers: {
      200: {
        description: 'The credential',
        content: jsonContent(issuedCredential, {
          status: 'created',
          token: TOKEN,
          hmac_secret: SHA256,
          message: "Copy hmac_secret now: you won't see it again.",
        }),
      },
    },
    refusals: [422],
  },
  destroyCredential: {
    ...CREDENTIAL,
    operationId: 'mirrorDeleteCredential',
    summary: 'Destroys the mirror credential',
    description: 'Blobs stay stored, and cannot be downloaded until they are uploaded again under a new credential.',
    answers: {
      200: {
        description: 'It is gone',
        content: jsonContent(jsonSchema(views.destroyedCredential, 'output'), {
          status: 'deleted',
          message: 'The mirror credential is gone.',
        }),
      },
    },
    refusals: [404],
  },
  upload: {
    ...MIRROR,
    operationId: 'mirrorUpload',
    summary: 'Uploads an encrypted tarball',
    description:
      `The raw bytes, at most ${limits.uploadBytesMax}, with Content-Length; multipart is refused, because the ` +
      'signature covers the exact bytes. 200 means that they are durable on disk. Sending the same again is safe.',
    parameters: headerParameters,
    request: { required: true, mediaType: BYTES },
    answers: { 200: { description: 'Stored', content: jsonContent(uploadedBlob, stored) } },
    refusals: [422, 507],
  },
  list: {
    ...MIRROR,
    operationId: 'mirrorList',
    summary: 'Lists the blobs, newest first',
    parameters: parametersOf('query', listQuery),
    answers: {
      200: {
        description: 'The blobs; a Link header when there are more',
        content: jsonContent(jsonSchema(views.blobPage, 'output'), {
          blobs: [{ ...stored, uploaded_by: 'ci-runner-7' }],
        }),
        headers: ['Link'],
      },
    },
    refusals: [422],
  },
  latest: {
    ...MIRROR,
    operationId: 'mirrorLatest',
    summary: 'The blob that was uploaded last',
    answers: {
      200: {
        description: 'The newest blob',
        content: jsonContent(latestBlob, { ...stored, download_url: `/api/cert_mirror/${COMMIT}/download` }),
      },
    },
    refusals: [404],
  },
  download: {
    ...MIRROR,
    operationId: 'mirrorDownload',
    summary: 'Downloads a blob, whole or in part',
    description: '422 when it was uploaded under a credential that is no longer in force.',
    parameters: downloadParameters,
    answers: {
      200: { description: 'The exact bytes', content: { mediaType: BYTES }, headers: TARBALL_HEADERS },
      206: {
        description: 'The requested range',
        content: { mediaType: BYTES },
        headers: [...TARBALL_HEADERS, 'Content-Range'],
      },
      304: { description: "Not modified: the client's copy is current", headers: TARBALL_HEADERS },
    },
    refusals: [404, 416, 422],
  },
} as const satisfies Record<string, RouteDoc>;
