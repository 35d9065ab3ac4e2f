/** Describes a call inside a request for the log line of the request. Contains no text of the caller. */

export interface CallNote {
  /** Name of the registered tool. */
  tool?: string;
  /** Time from finding the tool to its result, in milliseconds. */
  ms?: number;
  /** JSON-RPC error code; undefined when the call succeeded. */
  code?: number;
  /** Kind of the refusal. */
  fault?: string;
  /** HTTP status of this failure outside the gateway: it determines the level of the log line. */
  status?: number;
}
