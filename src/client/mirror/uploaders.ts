/** Client of the credentials of CI jobs (`/api/cert_mirror/credentials/uploaders`), which only upload or only download. */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { type ClientAnswer, type ClientRequest, refusalOf, sendRequest } from '../http.ts';

const PATH = '/api/cert_mirror/credentials/uploaders';

/** A hub of an earlier version has only those that upload, and does not say so. */
const uploader = z.object({
  id: z.string(),
  name: z.string(),
  access: z.enum(['upload', 'download']).default('upload'),
  created_at: z.string(),
});
const uploaders = z.object({ uploaders: z.array(uploader) });
const newUploader = uploader.extend({ token: z.string(), hmac_secret: z.string().nullable() });

export type UploaderCredential = z.infer<typeof uploader>;
export type NewUploaderCredential = z.infer<typeof newUploader>;

/** Lists them, oldest first. Throws ClientError. */
export async function listUploaders(server: string, authorization: string): Promise<readonly UploaderCredential[]> {
  return readAnswer(server, await send(server, authorization, PATH, 'GET'), uploaders).uploaders;
}

/** Creates one; its token and secret are shown only here. Throws ClientError. */
export async function createUploader(
  server: string,
  authorization: string,
  { name, access }: Pick<NewUploaderCredential, 'name' | 'access'>,
): Promise<NewUploaderCredential> {
  // Left out where it is the default: a hub of an earlier version does not know it.
  const body = JSON.stringify({ name, ...(access === 'upload' ? {} : { access }) });
  const answer = await send(server, authorization, PATH, 'POST', body);
  if (answer.status === 404) {
    throw new ClientError('this account has no backups yet; run `cairn backups init` first.');
  }
  return readAnswer(server, answer, newUploader);
}

/** Revokes one. Throws ClientError. */
export async function revokeUploader(server: string, authorization: string, id: string): Promise<void> {
  const answer = await send(server, authorization, `${PATH}/${encodeURIComponent(id)}`, 'DELETE');
  if (answer.status === 204) return;
  if (answer.status === 404) {
    throw new ClientError(`there is no credential ${id} of a CI job; \`cairn backups uploaders\` lists them.`);
  }
  throw refusalOf(server, answer);
}

async function send(
  server: string,
  authorization: string,
  path: string,
  method: NonNullable<ClientRequest['method']>,
  body?: string,
) {
  const headers = {
    Authorization: authorization,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  return await sendRequest(server, path, { method, headers, ...(body === undefined ? {} : { body }) });
}

function readAnswer<T>(server: string, answer: ClientAnswer, schema: z.ZodType<T>): T {
  if (answer.status >= 300) throw refusalOf(server, answer);
  const parsed = schema.safeParse(answer.json());
  if (!parsed.success) throw new ClientError(`${server} did not answer like a Cairn hub; check --server.`);
  return parsed.data;
}
