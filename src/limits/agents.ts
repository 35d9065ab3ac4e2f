/** The bounds of what MCP clients keep open: streams of events, questions to a person, subscriptions; `limits` shows them among all others. */

const KiB = 1024;

export const agentLimits = {
  // Clients that listen.
  /** How often a quiet stream of events gets a comment: the HTTP library closes what is silent for ten seconds. */
  eventBeatMs: 4000,
  /** Events that wait for a slow reader: above, its stream ends. */
  eventBytesWaitingMax: 256 * KiB,
  /** How often what listeners watch is compared with what it was. */
  listenersLookMs: 500,
  /** After so many looks what changes with the day is compared although nothing was written. */
  listenersLooksByDay: 60,
  /** Clients that listen at once, of all accounts and of one. */
  listenersMax: 2000,
  listenersPerAccountMax: 32,
  /** How long a stream of events lasts; then the client listens anew. */
  listenSecondsMax: 3600,
  /** Resources that one client watches. */
  subscriptionsMax: 100,
  /** Sessions of one account whose subscriptions are remembered. */
  subscribingSessionsMax: 32,

  // Questions to the person at a client.
  /** How long a question waits for its answer. */
  questionSecondsMax: 300,
  /** Questions that wait at once, in calls of all accounts. */
  questionsMax: 1000,
} as const;
