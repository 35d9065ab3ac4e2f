/**
 * Owns the session ids of MCP before 2026-07-28. A session holds nothing here: its id says whether the client can be asked,
 * and joins a client's messages to the stream it listens on. So an id stays valid after a restart. Pure.
 */
import { randomUUID } from 'node:crypto';

export const SESSION_HEADER = 'mcp-session-id';

export interface ClientSession {
  readonly id: string;
  /** The client has declared that it asks its user (elicitation with forms). */
  readonly canAsk: boolean;
}

const FORM = /^(ask|plain)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A new id for a client with these capabilities, as `initialize` brings them. */
export function newSessionId(capabilities: unknown): string {
  return `${offersForms(capabilities) ? 'ask' : 'plain'}-${randomUUID()}`;
}

/** The session that a header names; undefined: none that was given here. */
export function readSession(header: string | undefined): ClientSession | undefined {
  if (header === undefined || !FORM.test(header)) return undefined;
  return { id: header, canAsk: header.startsWith('ask-') };
}

/** An empty `elicitation` means forms; otherwise it names what the client can show (MCP 2025-11-25, client/elicitation). */
export function offersForms(capabilities: unknown): boolean {
  const offered = (capabilities as { readonly elicitation?: unknown } | null | undefined)?.elicitation;
  if (typeof offered !== 'object' || offered === null) return false;
  return 'form' in offered || !('url' in offered);
}
