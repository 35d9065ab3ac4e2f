/** Stores the sign-ins of this machine: one entry per hub, mode 0600, replaced atomically, changed under a lock. */
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { withFileLock } from '../file-lock.ts';
import { readPrivateFile, writePrivateFile } from '../private-file.ts';

const loginSchema = z.object({
  access_token: z.string(),
  /** ISO 8601. */
  access_expires_at: z.string(),
  refresh_token: z.string(),
  mcp_key: z.string().nullable(),
  device_name: z.string(),
});

const fileSchema = z.object({
  version: z.literal(1),
  /** Default hub of commands: the last one signed in to. */
  current: z.string().nullable(),
  servers: z.record(z.string(), loginSchema),
});

export type StoredLogin = z.infer<typeof loginSchema>;

type Document = z.infer<typeof fileSchema>;

const EMPTY: Document = { version: 1, current: null, servers: {} };

export class CredentialFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  current(): string | undefined {
    return this.#read().current ?? undefined;
  }

  login(server: string): StoredLogin | undefined {
    const { servers } = this.#read();
    return Object.hasOwn(servers, server) ? servers[server] : undefined;
  }

  /**
   * Changes the sign-in of a hub under the lock of the file. `change` gets the current sign-in and returns the new one,
   * or undefined to remove it. When it throws, nothing changes. `makeCurrent` makes this hub the default of commands.
   */
  async change<T extends StoredLogin | undefined>(
    server: string,
    change: (login: StoredLogin | undefined) => T | Promise<T>,
    { makeCurrent = false } = {},
  ): Promise<T> {
    return await withFileLock(this.path, async () => {
      const before = this.login(server);
      const after = await change(before);
      if (after !== before) {
        const document = withLogin(this.#read(), server, after, makeCurrent);
        writePrivateFile(this.path, `${JSON.stringify(document, null, 2)}\n`);
      }
      return after;
    });
  }

  #read(): Document {
    const text = readPrivateFile(this.path);
    if (text === undefined) return EMPTY;
    const parsed = fileSchema.safeParse(parseJson(text));
    if (!parsed.success) {
      throw new ClientError(
        `${this.path} cannot be read by this version of cairn. Remove it, then sign in again with \`cairn login\`.`,
      );
    }
    return parsed.data;
  }
}

function withLogin(document: Document, server: string, login: StoredLogin | undefined, makeCurrent: boolean): Document {
  const { [server]: _, ...others } = document.servers;
  const servers = login === undefined ? others : { ...others, [server]: login };
  const current = makeCurrent ? server : document.current;
  return { version: 1, current: current !== null && Object.hasOwn(servers, current) ? current : null, servers };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Reported as an invalid file.
    return undefined;
  }
}
