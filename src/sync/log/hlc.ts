/**
 * Reads, writes and compares hybrid logical clocks (Kulkarni et al. 2014), and advances the hub's own. A clock orders
 * changes; it never proves that one knew of the other. Pure.
 */
import { createHash } from 'node:crypto';
import { limits } from '../../limits/service.ts';
import { parseIsoMs } from '../../time/iso-time.ts';

export interface Hlc {
  /** Milliseconds since 1970-01-01. A client's clock may have microseconds after the decimal point. */
  readonly ms: number;
  readonly counter: number;
  readonly node: string;
}

/** The hub's clock of one vault; its node is the hub's. */
export interface HubClock {
  readonly ms: number;
  readonly counter: number;
}

const COUNTER_MAX = 0xffff;
/** 9999-12-31T23:59:59.999Z: the last time with a year of four digits. */
const MS_MAX = 253_402_300_799_999;
const CANONICAL_CHARS = 46;
const CANONICAL = /^.{23}Z-[0-9A-F]{4}-[0-9a-f]{16}$/;
const ISO_FORM = /^(.{19,}?Z)-([0-9A-Fa-f]{4})-([A-Za-z0-9_.-]{1,64})$/;
/** Zero-padded, so that a bare date does not match. */
const DECIMAL_FORM = /^(\d{13,15})[:-](\d{1,5})[:-]([A-Za-z0-9_.-]{1,64})$/;
const EPOCH_FORM = /^(\d{1,19})(?:\.(\d{1,9}))?$/;

export const HLC_EXPECTED =
  'hlc must look like 2026-11-20T20:18:57.123Z-0000-89e4f1c2a0b3d756 (ISO time with Z, 4 hex digits of counter, node)';

/**
 * Parses the canonical form and related forms: other nodes and fractions, `<ms>-<counter>-<node>` in zero-padded
 * decimals, and a bare ISO time or epoch (seconds to nanoseconds, by magnitude), with the node derived from the device.
 * Undefined when the text has none of these forms.
 */
export function parseHlc(text: string, deviceId: string): Hlc | undefined {
  const canonical = parseCanonical(text);
  if (canonical !== undefined) return canonical;
  const iso = ISO_FORM.exec(text);
  if (iso !== null) return checked(parseIsoMs(iso[1] ?? ''), Number.parseInt(iso[2] ?? '', 16), iso[3] ?? '');
  const decimal = DECIMAL_FORM.exec(text);
  if (decimal !== null) return checked(Number(decimal[1]), Number(decimal[2]), decimal[3] ?? '');
  return checked(parseIsoMs(text) ?? parseEpochMs(text), 0, nodeOf(deviceId));
}

/**
 * Parses the canonical form, which most clients write. Undefined for all other texts, which the general parser handles.
 */
function parseCanonical(text: string): Hlc | undefined {
  if (text.length !== CANONICAL_CHARS || !CANONICAL.test(text)) return undefined;
  const ms = parseIsoMs(text.slice(0, 24));
  return ms === undefined ? undefined : { ms, counter: Number.parseInt(text.slice(25, 29), 16), node: text.slice(30) };
}

/** Formats a clock in the canonical form: byte order is the order of the clocks. */
export function formatHlc({ ms, counter, node }: Hlc): string {
  return `${new Date(ms).toISOString()}-${counter.toString(16).toUpperCase().padStart(4, '0')}-${node}`;
}

/** Negative when `a` is older, 0 when they are equal, positive when `a` is newer. */
export function compareHlc(a: Hlc, b: Hlc): number {
  if (a.ms !== b.ms) return a.ms - b.ms;
  if (a.counter !== b.counter) return a.counter - b.counter;
  return a.node === b.node ? 0 : a.node < b.node ? -1 : 1;
}

/** The clock of a vault as far as it decides: one too far ahead was set while the hub's time was wrong. */
export function trusted(clock: HubClock, nowMs: number): HubClock {
  return clock.ms - nowMs > limits.hlcAheadMsMax ? { ms: nowMs, counter: 0 } : clock;
}

/** Returns a clock above another: the same one if it is above already. */
export function raisedAbove(clock: HubClock, other: Hlc): HubClock {
  return compareHlc({ ...clock, node: '' }, { ...other, node: '' }) > 0 ? clock : receiveTick(clock, other, 0);
}

/** Returns the clock after an event of the hub itself. */
export function sendTick(clock: HubClock, nowMs: number): HubClock {
  const ms = Math.max(clock.ms, nowMs);
  return carried(ms, ms === clock.ms ? clock.counter + 1 : 0);
}

/** Returns the clock after receiving a client's value: above both. Reject values too far ahead before calling this. */
export function receiveTick(clock: HubClock, remote: Hlc, nowMs: number): HubClock {
  // Whole milliseconds, rounded up, so that the result is above the client's microseconds too.
  const remoteMs = Math.ceil(remote.ms);
  const ms = Math.max(clock.ms, remoteMs, nowMs);
  const counters = [
    ...(ms === clock.ms ? [clock.counter + 1] : []),
    ...(ms === remoteMs ? [remote.counter + 1] : []),
    0,
  ];
  return carried(ms, Math.max(...counters));
}

/** Seconds, to the millisecond, that a client's clock is ahead of the hub's time. */
export function secondsAhead(hlc: Hlc, nowMs: number): number {
  return Math.round(hlc.ms - nowMs) / 1000;
}

/** True when a value is too far in the future to be adopted. */
export function isTooFarAhead(hlc: Hlc, nowMs: number): boolean {
  return hlc.ms - nowMs > limits.hlcAheadMsMax;
}

/** Carries a full counter over into the milliseconds. */
function carried(ms: number, counter: number): HubClock {
  return counter > COUNTER_MAX ? { ms: ms + 1, counter: 0 } : { ms, counter };
}

function checked(ms: number | undefined, counter: number, node: string): Hlc | undefined {
  if (ms === undefined || ms > MS_MAX || counter > COUNTER_MAX) return undefined;
  return { ms, counter, node };
}

function parseEpochMs(text: string): number | undefined {
  const match = EPOCH_FORM.exec(text);
  if (match === null) return undefined;
  const value = Number(text);
  if (value < 1e11) return value * 1000;
  if (value < 1e14) return value;
  return value < 1e17 ? value / 1000 : value / 1e6;
}

/** The node of a client that names none: derived from its device. */
function nodeOf(deviceId: string): string {
  return createHash('sha256').update(deviceId).digest('hex').slice(0, 16);
}
