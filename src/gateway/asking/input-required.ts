/**
 * Asks questions in MCP 2026-07-28: the call ends with the question, and the client repeats it with the answer (MCP,
 * client/elicitation). The hub stores nothing in between: `requestState` contains what was asked, and its expiry.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { type Ask, type Question, readAnswer } from './ask.ts';

/** Ends a call with a question. */
export class InputRequired extends Error {
  readonly question: Question;
  readonly state: string;

  constructor(question: Question, state: string) {
    super('the client has to ask its user');
    this.question = question;
    this.state = state;
  }

  /** The members of the result sent to the client. */
  get members(): object {
    const { name, ...question } = this.question;
    const request = { method: 'elicitation/create', params: { mode: 'form', ...question } };
    return { inputRequests: { [name]: request }, requestState: this.state };
  }
}

/** Refuses a `requestState` that this hub did not issue for this exact call. */
export class ForeignState extends Refusal {
  constructor() {
    const message = 'requestState must be the one returned by the last answer to this call';
    super({ kind: 'invalid_fields', fields: { requestState: [message] } });
  }
}

export interface AskedCall {
  readonly accountId: string;
  readonly tool: string;
  /** As sent by the client. */
  readonly args: unknown;
  readonly inputResponses: unknown;
  readonly requestState: unknown;
}

export interface StateKeeper {
  /** A keyed hash only this hub can compute. */
  readonly keyedHash: (purpose: string, text: string) => string;
  readonly now: () => number;
}

/**
 * Asks by ending the call. The returned function throws InputRequired until the client sends an answer to this exact
 * question, and ForeignState for a state that was changed or issued for another call.
 */
export function askByRepeating(call: AskedCall, keeper: StateKeeper): Ask {
  return async (question) => {
    const asked = digest(question);
    const answered = answerIn(call.inputResponses, question.name);
    if (typeof call.requestState === 'string') {
      const state = openState(call, call.requestState, keeper);
      const isSame = state.asked === asked && state.untilMs > keeper.now();
      if (isSame && answered !== undefined) return readAnswer(answered);
    }
    throw new InputRequired(question, sealState(call, asked, keeper));
  };
}

function answerIn(responses: unknown, name: string): unknown {
  return (responses as Readonly<Record<string, unknown>> | null | undefined)?.[name];
}

function sealState(call: AskedCall, asked: string, keeper: StateKeeper): string {
  const untilMs = keeper.now() + limits.questionSecondsMax * 1000;
  return `${untilMs}.${asked}.${proof(call, `${untilMs}.${asked}`, keeper)}`;
}

function openState(call: AskedCall, text: string, keeper: StateKeeper) {
  const [untilMs = '', asked = '', given = ''] = text.split('.');
  const [expected, actual] = [proof(call, `${untilMs}.${asked}`, keeper), given].map((part) => Buffer.from(part));
  if (expected?.length !== actual?.length || !timingSafeEqual(expected as Buffer, actual as Buffer)) {
    throw new ForeignState();
  }
  return { untilMs: Number(untilMs), asked };
}

/** Keyed hash of a state, bound to account, tool and arguments, so that a confirmation is valid for one call only. */
function proof({ accountId, tool, args }: AskedCall, state: string, { keyedHash }: StateKeeper): string {
  return keyedHash('mcp-request-state', JSON.stringify([accountId, tool, args ?? {}, state]));
}

function digest(question: Question): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, 32);
}
