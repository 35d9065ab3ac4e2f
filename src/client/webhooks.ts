/** Client of the webhooks of an account (`/api/webhooks`). */
import { z } from 'zod';
import { ClientError } from './client-error.ts';
import { type ClientAnswer, type ClientRequest, refusalOf, sendRequest } from './http.ts';

const PATH = '/api/webhooks';

const webhook = z.object({
  id: z.string(),
  url: z.string(),
  kinds: z.array(z.string()).nullable(),
  enabled: z.boolean(),
  disabled_because: z.string().nullable(),
  failed_tries: z.number(),
  next_try_at: z.string().nullable(),
  deliveries: z.array(
    z.object({
      message: z.string(),
      type: z.string(),
      at: z.string(),
      // A hub before this one says nothing of it.
      missed: z.number().nullable().optional(),
      status: z.number().nullable(),
      error: z.string().nullable(),
    }),
  ),
});
const listed = z.object({ webhooks: z.array(webhook) });
const withSecret = webhook.extend({ secret: z.string() });

export type ListedWebhook = z.infer<typeof webhook>;
export type CreatedWebhook = z.infer<typeof withSecret>;

/** The webhooks of the account of a credential. Each method throws ClientError. */
export class WebhookClient {
  readonly #server: string;
  readonly #authorization: string;

  constructor(server: string, authorization: string) {
    this.#server = server;
    this.#authorization = authorization;
  }

  async list(): Promise<readonly ListedWebhook[]> {
    return this.#read(await this.#send('GET', PATH), listed).webhooks;
  }

  /** `kinds`: undefined: all. */
  async create(url: string, kinds: readonly string[] | undefined): Promise<CreatedWebhook> {
    return this.#read(await this.#send('POST', PATH, { url, ...(kinds === undefined ? {} : { kinds }) }), withSecret);
  }

  async enable(id: string): Promise<ListedWebhook> {
    return this.#read(await this.#send('PATCH', this.#one(id), { enabled: true }), webhook);
  }

  async rotate(id: string): Promise<CreatedWebhook> {
    return this.#read(await this.#send('POST', `${this.#one(id)}/secret`), withSecret);
  }

  async remove(id: string): Promise<void> {
    const answer = await this.#send('DELETE', this.#one(id));
    if (answer.status !== 204) throw this.#refused(answer);
  }

  #one(id: string): string {
    return `${PATH}/${encodeURIComponent(id)}`;
  }

  async #send(method: NonNullable<ClientRequest['method']>, path: string, fields?: object): Promise<ClientAnswer> {
    const body = fields === undefined ? {} : { body: JSON.stringify(fields) };
    const type = fields === undefined ? {} : { 'Content-Type': 'application/json' };
    return await sendRequest(this.#server, path, {
      method,
      headers: { Authorization: this.#authorization, ...type },
      ...body,
    });
  }

  #refused(answer: ClientAnswer): ClientError {
    if (answer.status === 404) return new ClientError('there is no such webhook; `cairn webhooks` lists them.');
    return refusalOf(this.#server, answer);
  }

  #read<T>(answer: ClientAnswer, schema: z.ZodType<T>): T {
    if (answer.status >= 300) throw this.#refused(answer);
    const parsed = schema.safeParse(answer.json());
    if (!parsed.success) throw new ClientError(`${this.#server} did not answer like a Cairn hub; check --server.`);
    return parsed.data;
  }
}
