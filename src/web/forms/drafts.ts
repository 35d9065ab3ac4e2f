/** Owns text that was sent after its session had ended: kept in memory, for the account whose form it was. */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { CSRF_FIELD } from '../ui.tsx';

/** Fields that people write text into. A form without any is not kept, and fields of secrets never are. */
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
  /** Where the form is sent: a path of ours with its query. */
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
    return `${DRAFT_PATH}/${id}`;
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
