/** Declares the part of the HTTP library's response (uWebSockets.js) that an exchange uses. Types only. */

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
  resume(): void;
  close(): void;
  onWritable(handler: (offset: number) => boolean): void;
  onAborted(handler: () => void): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
}
