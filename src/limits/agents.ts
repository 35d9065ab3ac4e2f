/** Limits of the open streams, questions and subscriptions of MCP clients; part of `limits`. */

const KiB = 1024;

export const agentLimits = {
  // Listening clients.
  /** How often a quiet event stream gets a comment: the HTTP library closes a connection silent for ten seconds. */
  eventBeatMs: 4000,
  /** Bytes of events waiting for a slow reader. Above this, its stream ends. */
  eventBytesWaitingMax: 256 * KiB,
  /** How long a notified client is left alone: further changes in that time are notified together. */
  listenersRestMs: 500,
  /** Concurrent listening clients, of all accounts and of one. */
  listenersMax: 2000,
  listenersPerAccountMax: 32,
  /** Duration of an event stream. The client then opens a new one. */
  listenSecondsMax: 3600,
  /** Resources watched by one client. */
  subscriptionsMax: 100,
  /** Sessions of one account whose subscriptions are remembered. */
  subscribingSessionsMax: 32,

  // Questions to the person at a client.
  /** How long a question waits for its answer. */
  questionSecondsMax: 300,
  /** Concurrent waiting questions, in calls of all accounts. */
  questionsMax: 1000,
} as const;
