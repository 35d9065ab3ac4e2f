/** The bounds of what MCP clients keep open: streams of events, questions to a person, subscriptions; `limits` shows them among all others. */

const KiB = 1024;

export const agentLimits = {
  // Clients that listen.
  /** How often a quiet stream of events gets a comment: the HTTP library closes what is silent for ten seconds. */
  eventBeatMs: 4000,
  /** Events that wait for a slow reader: above, its stream ends. */
  eventBytesWaitingMax: 256 * KiB,

  // Questions to the person at a client.
  /** How long a question waits for its answer. */
  questionSecondsMax: 300,
  /** Questions that wait at once, in calls of all accounts. */
  questionsMax: 1000,
} as const;
