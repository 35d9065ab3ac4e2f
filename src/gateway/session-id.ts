/**
 * Creates and reads session ids of MCP before 2026-07-28. The hub stores no sessions: the id encodes whether the client
 * can ask its user, and links the client's messages to its stream. So it stays valid after a restart. Pure.
 */
import { randomUUID } from 'node:crypto';

export const SESSION_HEADER = 'mcp-session-id';

export interface ClientSession {
  readonly id: string;
  /** True when the client declared that it can ask its user (elicitation with forms). */
  readonly canAsk: boolean;
}

const FORM = /^(ask|plain)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Creates an id for a client with these capabilities, as received by `initialize`. */
export function newSessionId(capabilities: unknown): string {
  return `${offersForms(capabilities) ? 'ask' : 'plain'}-${randomUUID()}`;
}

/** The session of a header; undefined when the header does not have this hub's format. */
export function readSession(header: string | undefined): ClientSession | undefined {
  if (header === undefined || !FORM.test(header)) return undefined;
  return { id: header, canAsk: header.startsWith('ask-') };
}

/** True when the client supports forms: `elicitation` is empty or lists them (MCP 2025-11-25, client/elicitation). */
export function offersForms(capabilities: unknown): boolean {
  const offered = (capabilities as { readonly elicitation?: unknown } | null | undefined)?.elicitation;
  if (typeof offered !== 'object' || offered === null) return false;
  return 'form' in offered || !('url' in offered);
}
