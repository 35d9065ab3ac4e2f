/** Declares the part of the HTTP library's response that an exchange uses. Types only. */

/**
 * May also be a connection of another thread, controlled by messages. Methods behave as in the library
 * (uWebSockets.js).
 */
export interface AnswerSocket {
  cork(run: () => void): void;
  writeStatus(status: string): void;
  writeHeader(name: string, value: string): void;
  write(chunk: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closes?: boolean): void;
  endWithoutBody(): void;
  tryEnd(chunk: Uint8Array, bytesTotal: number): [taken: boolean, done: boolean];
  getWriteOffset(): number;
  pause(): void;
  /** Missing where another thread reads the socket. */
  resume?(): void;
  close(): void;
  onWritable(handler: (offset: number) => boolean): void;
  onAborted(handler: () => void): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
}
