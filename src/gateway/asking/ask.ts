/** Defines questions to the user at a client (MCP elicitation), and the confirmation before a call. */
import { Refusal } from '../../common/fault.ts';

/** A question: a name, and the parameters of `elicitation/create`. */
export interface Question {
  /** The name of the answer when the client repeats the call with it (MCP 2026-07-28, `inputResponses`). */
  readonly name: string;
  readonly message: string;
  /** JSON Schema of a flat object: the fields of the form. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
}

export interface QuestionAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The fields of the form, when accepted. */
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Asks and waits for the answer. A late or invalid answer is a `cancel`. */
export type Ask = (question: Question) => Promise<QuestionAnswer>;

/**
 * Asks the user to confirm what cannot be undone. Does nothing when the client cannot ask its user (`ask` undefined).
 * Throws Refusal `not_confirmed` unless the user accepts.
 */
export async function confirmFirst(ask: Ask | undefined, message: string): Promise<void> {
  if (ask === undefined) return;
  const { action } = await ask({ name: 'confirmation', message, requestedSchema: { type: 'object', properties: {} } });
  if (action === 'accept') return;
  const why = action === 'decline' ? 'the user declined' : 'the user gave no answer';
  throw new Refusal({
    kind: 'not_confirmed',
    detail: `${why}, so nothing was changed; do not repeat this call unless the user asks for it`,
  });
}

/** Reads a client's answer; an invalid one counts as cancelled. */
export function readAnswer(given: unknown): QuestionAnswer {
  const { action, content } = (given ?? {}) as { readonly action?: unknown; readonly content?: unknown };
  if (action === 'decline') return { action };
  if (action !== 'accept') return { action: 'cancel' };
  const fields = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  return { action, content: fields };
}
