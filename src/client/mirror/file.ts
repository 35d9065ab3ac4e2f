/** Stores the mirror credential and the encryption recipients of each hub on this machine. Mode 0600. */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { readPrivateFile, writePrivateFile } from '../private-file.ts';

const entrySchema = z.object({
  token: z.string(),
  hmac_secret: z.string(),
  /** age recipients of the archives; empty: each push needs a passphrase. */
  recipients: z.array(z.string()),
  /** File of the matching age identity; null: the user stores it elsewhere. */
  identity_file: z.string().nullable(),
});
const fileSchema = z.object({ version: z.literal(1), servers: z.record(z.string(), entrySchema) });

export type MirrorEntry = z.infer<typeof entrySchema>;

/** Reads the mirror entry of a hub; undefined when there is none. Throws ClientError. */
export function readMirrorEntry(path: string, server: string): MirrorEntry | undefined {
  const { servers } = readFile(path);
  return Object.hasOwn(servers, server) ? servers[server] : undefined;
}

/** Stores the mirror entry of one hub without changing those of others. Throws ClientError. */
export function writeMirrorEntry(path: string, server: string, entry: MirrorEntry): void {
  const { servers } = readFile(path);
  const document = { version: 1, servers: { ...servers, [server]: entry } };
  writePrivateFile(path, `${JSON.stringify(document, null, 2)}\n`);
}

function readFile(path: string): z.infer<typeof fileSchema> {
  const text = readPrivateFile(path);
  if (text === undefined) return { version: 1, servers: {} };
  try {
    return fileSchema.parse(JSON.parse(text));
  } catch {
    throw new ClientError(
      `${path} cannot be read by this version of cairn. Move it away, then run \`cairn backups init\`.`,
    );
  }
}
