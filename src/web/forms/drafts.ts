/** Stores text sent after its session had ended: in memory, for the account that the form was made for. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { CSRF_FIELD } from '../ui.tsx';

/** Fields with text written by people. A form without any is not stored, and secret fields never are. */
export const WRITTEN: Readonly<Record<string, string>> = {
  content: 'Content',
  title: 'Title',
  name: 'Name',
  path: 'Path',
  group: 'Category or project',
};
const SECRET = /password|token|code|csrf/i;

export interface Draft {
  readonly accountId: string;
  /** Where the form is sent: one of our paths with its query. */
  readonly action: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly chars: number;
  readonly untilMs: number;
}

export const DRAFT_PATH = '/draft';

export class Drafts {
  /** Oldest first. */
  readonly #kept = new Map<string, Draft>();
  readonly #now: () => number;
  #chars = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Stores the entered text and returns the path of its page; undefined: nothing was written, or it is too large. */
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
    return `${DRAFT_PATH}/${id}`;
  }

  /** Finds a draft of this account. Throws Refusal `not_found`, also for a draft of another account. */
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
