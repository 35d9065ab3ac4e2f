/**
 * Owns hybrid logical clocks (Kulkarni et al. 2014): how one is read and written, how two compare, and how the hub's own
 * moves on. A clock orders changes; it never proves that one knew of the other. Pure.
 */
import { createHash } from 'node:crypto';
import { limits } from '../../limits/service.ts';
import { parseIsoMs } from '../../time/iso-time.ts';

export interface Hlc {
  /** Milliseconds since 1970-01-01; a client's may carry microseconds after the point. */
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
/** 9999-12-31T23:59:59.999Z: what four digits of a year can say. */
const MS_MAX = 253_402_300_799_999;
const CANONICAL_CHARS = 46;
const CANONICAL = /^.{23}Z-[0-9A-F]{4}-[0-9a-f]{16}$/;
const ISO_FORM = /^(.{19,}?Z)-([0-9A-Fa-f]{4})-([A-Za-z0-9_.-]{1,64})$/;
/** Zero-padded, so that a bare date is not taken for one. */
const DECIMAL_FORM = /^(\d{13,15})[:-](\d{1,5})[:-]([A-Za-z0-9_.-]{1,64})$/;
const EPOCH_FORM = /^(\d{1,19})(?:\.(\d{1,9}))?$/;

export const HLC_EXPECTED =
  'hlc must look like 2026-11-20T20:18:57.123Z-0000-89e4f1c2a0b3d756 (ISO time with Z, 4 hex digits of counter, node)';

/**
 * Reads the canonical form and its relatives: other nodes and fractions, `<ms>-<counter>-<node>` in zero-padded
 * decimals, a bare ISO time or epoch (seconds to nanoseconds, by magnitude), which take their node from the device.
 * Undefined: it is none of them.
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

/** The canonical form, which most clients write; any other, or one that is none, is left to the general reader. */
function parseCanonical(text: string): Hlc | undefined {
  if (text.length !== CANONICAL_CHARS || !CANONICAL.test(text)) return undefined;
  const ms = parseIsoMs(text.slice(0, 24));
  return ms === undefined ? undefined : { ms, counter: Number.parseInt(text.slice(25, 29), 16), node: text.slice(30) };
}

/** The canonical form: byte order is the order of the clocks. */
export function formatHlc({ ms, counter, node }: Hlc): string {
  return `${new Date(ms).toISOString()}-${counter.toString(16).toUpperCase().padStart(4, '0')}-${node}`;
}

/** Below 0: `a` is older; 0: they are the same. */
export function compareHlc(a: Hlc, b: Hlc): number {
  if (a.ms !== b.ms) return a.ms - b.ms;
  if (a.counter !== b.counter) return a.counter - b.counter;
  return a.node === b.node ? 0 : a.node < b.node ? -1 : 1;
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

/** True when a value is so far in the future that it is never adopted. */
export function isTooFarAhead(hlc: Hlc, nowMs: number): boolean {
  return hlc.ms - nowMs > limits.hlcAheadMsMax;
}

/** A full counter goes into the milliseconds. */
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

/** A client that names no node is told apart by its device. */
function nodeOf(deviceId: string): string {
  return createHash('sha256').update(deviceId).digest('hex').slice(0, 16);
}
