/** What a started service offers to the process that runs it. */
export interface RunningService {
  readonly port: number;
  /** Instructions for creating the first account; undefined: one exists. */
  readonly firstStep: string | undefined;
  /** Port of the metrics, when they have a separate one. */
  readonly metricsPort: number | undefined;
  /** Resolves with the cause when the data file has become unusable. End the process then: `stop` may never resolve. */
  readonly broken: Promise<unknown>;
  /**
   * Uses the certificate that the TLS files have now, for new connections. Returns false when it is the same as before,
   * and undefined without TLS. Throws StartError when it cannot be used; then the one before is kept.
   */
  readonly renewCertificate: () => boolean | undefined;
  /** Stops accepting connections, finishes running requests, flushes, and releases the data folder. */
  readonly stop: () => Promise<void>;
}
