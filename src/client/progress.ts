/** Shows the progress of long work on a terminal. Writes to standard error, so that standard output can be piped. */
import { shownLine } from './shown.ts';

const WIDTH = 24;
const REDRAW_MS = 100;

export interface ProgressBar {
  /** `total` undefined: unknown so far. */
  update(done: number, total: number | undefined): void;
  /** Removes the bar from the screen. */
  close(): void;
}

/** Opens a progress bar on a terminal; on any other output it shows nothing. */
export function openProgress(label: string, stream: NodeJS.WriteStream = process.stderr): ProgressBar {
  if (!stream.isTTY) return { update: () => undefined, close: () => undefined };
  let drawnMs = 0;
  return {
    update(done, total) {
      const nowMs = Date.now();
      if (nowMs - drawnMs < REDRAW_MS && (total === undefined || done < total)) return;
      drawnMs = nowMs;
      stream.write(`\r${progressLine(label, done, total)}\u001b[K`);
    },
    close() {
      stream.write('\r\u001b[K');
    },
  };
}

/** One line: label, bar, percentage, amount; without a total only label and amount. */
export function progressLine(label: string, done: number, total: number | undefined): string {
  if (total === undefined) return `${label}  ${formatBytes(done)}`;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  const bar = '#'.repeat(filled) + '-'.repeat(WIDTH - filled);
  return `${label} [${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${formatBytes(done)} of ${formatBytes(total)}`;
}

/** A size in binary units, in short form. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ''}`;
}

/** A line rewritten in place on a terminal; on any other output it shows nothing. */
export interface StatusLine {
  /** `text` is called only for what is shown: there may be a change for each of many files. */
  show(text: () => string): void;
  /** Removes the line from the screen. */
  close(): void;
}

export function openStatusLine(stream: NodeJS.WriteStream = process.stderr): StatusLine {
  let drawnMs = 0;
  let isShown = false;
  return {
    show(text) {
      const nowMs = Date.now();
      if (!stream.isTTY || nowMs - drawnMs < REDRAW_MS) return;
      drawnMs = nowMs;
      isShown = true;
      stream.write(`\r${shownLine(text()).slice(0, Math.max(20, stream.columns - 1))}\u001b[K`);
    },
    close() {
      if (isShown) stream.write('\r\u001b[K');
      isShown = false;
    },
  };
}
