/**
 * Owns text that was sent after its session had ended: kept in memory for the account whose form it was, and offered again
 * at an address of its own once that account is signed in.
 */
import { randomBytes } from 'node:crypto';
import type { VNode } from 'preact';
import { Refusal } from '../../common/fault.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { TextArea } from '../fields.tsx';
import type { Pages } from '../pages.ts';
import { CSRF_FIELD, Fact, Form, Given } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';

/** Fields that people write text into. A form without any is not kept, and fields of secrets never are. */
const WRITTEN: Readonly<Record<string, string>> = {
  content: 'Content',
  title: 'Title',
  name: 'Name',
  path: 'Path',
  group: 'Category or project',
};
const SECRET = /password|token|code|csrf/i;

interface Draft {
  readonly accountId: string;
  /** Where the form is sent: a path of ours with its query. */
  readonly action: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly chars: number;
  readonly untilMs: number;
}

const PATH = '/draft';

export class Drafts {
  /** Oldest first. */
  readonly #kept = new Map<string, Draft>();
  readonly #now: () => number;
  #chars = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Keeps what was written, and returns where it is shown; undefined: nothing was written, or too much to keep. */
  keep(accountId: string, action: string, form: URLSearchParams): string | undefined {
    const fields = Array.from(form).filter(([name]) => name !== CSRF_FIELD && !SECRET.test(name));
    if (!fields.some(([name, value]) => name in WRITTEN && value.trim() !== '')) return undefined;
    const chars = fields.reduce((sum, [name, value]) => sum + name.length + value.length, action.length);
    if (chars > limits.draftCharsMax) return undefined;
    const own = Array.from(this.#kept).filter(([, draft]) => draft.accountId === accountId);
    for (const [old] of own.slice(0, Math.max(0, own.length + 1 - limits.draftsPerAccountMax))) this.#forget(old);
    for (const [old, { untilMs }] of this.#kept) {
      if (untilMs > this.#now() && this.#chars + chars <= limits.draftCharsTotalMax) break;
      this.#forget(old);
    }
    const id = randomBytes(16).toString('base64url');
    this.#kept.set(id, { accountId, action, fields, chars, untilMs: this.#now() + limits.draftSeconds * 1000 });
    this.#chars += chars;
    return `${PATH}/${id}`;
  }

  /** A draft of this account. Refuses with `not_found`, one of another account as one that is not there. */
  find(accountId: string, id: string): Draft {
    const draft = this.#kept.get(id);
    if (draft === undefined || draft.accountId !== accountId || draft.untilMs <= this.#now()) {
      throw new Refusal({ kind: 'not_found', what: 'this draft is no longer kept' });
    }
    return draft;
  }

  #forget(id: string): void {
    this.#chars -= this.#kept.get(id)?.chars ?? 0;
    this.#kept.delete(id);
  }
}

/** The page of a draft. */
export function draftRoute(pages: Pages, drafts: Drafts): Route {
  return pages.member(`${PATH}/:id`, (visit) => {
    const draft = drafts.find(visit.accountId, visit.request.params['id'] ?? '');
    return pages.show(visit, { title: 'Your unsaved text', body: <DraftPage visit={visit} draft={draft} /> });
  });
}

/** What was written, to be read again and sent. */
function DraftPage({ visit, draft }: { readonly visit: MemberVisit; readonly draft: Draft }): VNode {
  const content = draft.fields.find(([name]) => name === 'content')?.[1];
  const facts = draft.fields.filter(([name, value]) => name !== 'content' && name in WRITTEN && value !== '');
  return (
    <>
      <div class="intro">
        <h1>Your unsaved text</h1>
        <p class="lead">
          You were signed out before this form was sent, so nothing was saved. Check the text, then send it again. It is
          kept here for {limits.draftSeconds / 60} minutes.
        </p>
      </div>
      <section class="panel" aria-label="Unsaved text">
        <Form csrf={visit.csrf} action={draft.action} class="stack whole">
          {facts.length === 0 ? null : (
            <dl class="facts-list">
              {facts.map(([name, value]) => (
                <Fact key={name} name={WRITTEN[name] ?? name}>
                  <Given>{value}</Given>
                </Fact>
              ))}
            </dl>
          )}
          {draft.fields.map(([name, value], at) =>
            name === 'content' ? null : <input key={at} type="hidden" name={name} value={value} />,
          )}
          {content === undefined ? null : (
            <TextArea
              form="draft"
              name="content"
              label="Content"
              class="code"
              rows={20}
              required={false}
              isPlain
              value={content}
            />
          )}
          <div class="actions">
            <button class="button primary" type="submit">
              Send again
            </button>
            <a class="button" href="/">
              Cancel
            </a>
          </div>
        </Form>
      </section>
    </>
  );
}
