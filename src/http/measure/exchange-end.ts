/** Describes how an exchange ended, for the log and the metrics. */

export interface ExchangeEnd {
  readonly status: number | undefined;
  readonly aborted: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
}
