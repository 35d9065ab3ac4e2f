/** Owns what it is to ask the person at a client before something is done (MCP elicitation). */
import { Refusal } from '../../common/fault.ts';

/** A question: a name, and the parameters of `elicitation/create`. */
export interface Question {
  /** The name of the answer, where a client sends it with the repeated call (MCP 2026-07-28, `inputResponses`). */
  readonly name: string;
  readonly message: string;
  /** JSON Schema of a flat object: the fields of the form. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
}

export interface QuestionAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The fields, when accepted. */
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Asks, and waits for the answer. No answer in time, or of another form, is a `cancel`. */
export type Ask = (question: Question) => Promise<QuestionAnswer>;

/**
 * Asks whether to do what cannot be undone, where the client offers to ask its user; elsewhere nothing is asked.
 * `ask` undefined: it does not. Refuses with `not_confirmed` unless the person accepts.
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

/** What a client sent as an answer; another form counts as cancelled. */
export function readAnswer(given: unknown): QuestionAnswer {
  const { action, content } = (given ?? {}) as { readonly action?: unknown; readonly content?: unknown };
  if (action === 'decline') return { action };
  if (action !== 'accept') return { action: 'cancel' };
  const fields = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  return { action, content: fields };
}
