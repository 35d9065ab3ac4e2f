/** What the log line of a request says about a call inside it. Nothing in it is text of the caller. */

export interface CallNote {
  /** Name of the registered tool. */
  tool?: string;
  /** From finding the tool to its result, in milliseconds. */
  ms?: number;
  /** JSON-RPC error code; undefined: the call succeeded. */
  code?: number;
  /** Kind of the refusal. */
  fault?: string;
  /** The HTTP status of this failure outside of the gateway: it decides the level of the line. */
  status?: number;
}
