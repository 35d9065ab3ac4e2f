/** A browser without script, for tests: a cookie jar, pages as text, and forms that are sent as they stand in the page. */
import { type Answer, type Call, call } from './http.ts';
import type { Hub } from './hub.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The header of a browser that pages call `Firefox on Linux`. */
export const FIREFOX = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };

export interface PageForm {
  readonly action: string;
  /** What it would send untouched. */
  readonly fields: URLSearchParams;
  readonly html: string;
}

/** A field for each member; undefined leaves it out. */
export type Fields = Readonly<Record<string, string | undefined>>;

export class PageClient {
  readonly hub: Pick<Hub, 'url'>;
  readonly cookies = new Map<string, string>();
  /** The attributes that each cookie was last set with. */
  readonly cookieAttributes = new Map<string, string>();
  /** The last answer. */
  answer: Answer | undefined;
  /** The path that the last answer stood under. */
  path = '/';
  readonly #headers: Record<string, string>;

  constructor(hub: Pick<Hub, 'url'>, headers: Record<string, string> = {}) {
    this.hub = hub;
    this.#headers = headers;
  }

  /** The page that is shown now. */
  get html(): string {
    return this.answer?.text ?? '';
  }

  /** The page as a reader sees it: no tags, entities read. */
  get text(): string {
    return decode(this.html.replace(/<(script|style)[\s\S]*?<\/\1>/g, ' ').replace(/<[^>]*>/g, ' ')).replace(
      /\s+/g,
      ' ',
    );
  }

  /** Opens a page and follows where it leads. */
  async open(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.#follow(await this.send(path, { headers }));
  }

  /** Sends the form of an action with these fields changed, and follows where it leads. */
  async submit(action: string, fields: Fields = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return await this.#follow(await this.post(action, this.fieldsOf(action, fields), headers));
  }

  /** Sends a form as it stands in the page, and follows where it leads. */
  async sendForm({ action, fields }: PageForm): Promise<Answer> {
    return await this.#follow(await this.post(action, fields));
  }

  /** What the form of an action would send with these fields changed. */
  fieldsOf(action: string, fields: Fields = {}): URLSearchParams {
    const sent = new URLSearchParams(this.form(action).fields);
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) sent.delete(name);
      else sent.set(name, value);
    }
    return sent;
  }

  /** One POST as a browser sends it; redirects are not followed. */
  post(path: string, fields: URLSearchParams, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, {
      method: 'POST',
      headers: { 'Content-Type': FORM_TYPE, Origin: this.hub.url, ...headers },
      body: fields.toString(),
    });
  }

  /** One request with the cookies; redirects are not followed. */
  async send(path: string, options: Call = {}): Promise<Answer> {
    const cookies = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      // As a browser's: a client that ends its connection may lose an answer that comes before all of its body was read.
      Connection: 'keep-alive',
      ...this.#headers,
      ...(cookies === '' ? {} : { Cookie: cookies }),
      ...options.headers,
    };
    const answer = await call(this.hub, path, { ...options, headers });
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    this.answer = answer;
    this.path = path;
    return answer;
  }

  /** Every form of the page. */
  get forms(): PageForm[] {
    return [...this.html.matchAll(FORMS)].map(([html, head = '', body = '']) => ({
      action: attribute(head, 'action') ?? '',
      fields: fieldsIn(body),
      html,
    }));
  }

  /** The first form of an action; throws when the page has none. */
  form(action: string): PageForm {
    const found = this.forms.find((form) => form.action === action);
    if (found === undefined)
      throw new Error(`${this.path} has no form for ${action}: ${this.forms.map((one) => one.action).join(' ')}`);
    return found;
  }

  async #follow(first: Answer): Promise<Answer> {
    let answer = first;
    for (let hops = 0; answer.status === 303 && hops < 5; hops += 1) {
      const location = answer.headers.location ?? '';
      answer = await this.send(location);
    }
    return answer;
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals);
    this.cookies.set(name, pair.slice(equals + 1));
    this.cookieAttributes.set(name, attributes.join('; '));
  }
}

/** A browser that is signed in as a new account. */
export async function signedUp(hub: Pick<Hub, 'url'>, email: string, password: string): Promise<PageClient> {
  const client = new PageClient(hub);
  await client.open('/signup');
  const answer = await client.submit('/signup', { email, password });
  if (answer.status !== 200 || !client.text.includes('Account created')) {
    throw new Error(`sign-up failed: ${answer.status} ${client.text}`);
  }
  return client;
}

/** An attribute's value may hold what ends a tag elsewhere. */
const HEAD = '((?:[^>"]|"[^"]*")*)';
const FIELDS = new RegExp(`<input\\b${HEAD}>|<(textarea|select)\\b${HEAD}>([\\s\\S]*?)</\\2>`, 'g');
const FORMS = new RegExp(`<form\\b${HEAD}>([\\s\\S]*?)</form>`, 'g');

function fieldsIn(html: string): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [, inputHead, tag, listHead, body = ''] of html.matchAll(FIELDS)) {
    const head = inputHead ?? listHead ?? '';
    const name = attribute(head, 'name');
    const type = attribute(head, 'type');
    if (name === undefined || ((type === 'checkbox' || type === 'radio') && !/\schecked\b/.test(head))) continue;
    if (tag === 'textarea') fields.append(name, decode(body.replace(/^\n/, '')));
    else if (tag === 'select') fields.append(name, selected(body));
    else fields.append(name, attribute(head, 'value') ?? '');
  }
  return fields;
}

function selected(options: string): string {
  const all = [...options.matchAll(/<option\b([^>]*)>/g)].map(([, head = '']) => head);
  return attribute(all.find((head) => /\sselected\b/.test(head)) ?? all[0] ?? '', 'value') ?? '';
}

function attribute(head: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(head);
  return found === null ? undefined : decode(found[1] ?? '');
}

function decode(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ', amp: '&' };
  return text.replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (_, name: string) => named[name] ?? '');
}
