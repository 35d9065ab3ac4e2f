/** Owns how this device is signed in to a hub: codes, a person who approves elsewhere, polls until then (RFC 8628). */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { Unreachable } from '../http.ts';
import { askForCodes, Busy, type DeviceCodes, pollForTokens, Refused, type TokenAnswer } from './oauth.ts';

/** What each answer of a poll means for the interval, in seconds (RFC 8628, 3.5); undefined: polling is over. */
export function nextInterval(error: unknown, seconds: number): number | undefined {
  if (error instanceof Refused && error.code === 'authorization_pending') return seconds;
  if (error instanceof Refused && error.code === 'slow_down') return seconds + limits.devicePollStepSeconds;
  if (error instanceof Busy) return Math.max(seconds, error.retryAfterSeconds);
  // Back off from a network that does not carry; the next poll may go through.
  return error instanceof Unreachable ? Math.min(seconds * 2, limits.clientPollSecondsMax) : undefined;
}

/** Signs this device in; `show` is told what the user has to do. Throws ClientError when it is denied or too late. */
export async function signInDevice(
  server: string,
  deviceName: string,
  show: (codes: DeviceCodes) => void,
): Promise<TokenAnswer> {
  const codes = await askForCodes(server, deviceName);
  const giveUpMs = Date.now() + codes.expires_in * 1000;
  show(codes);
  let seconds = codes.interval;
  for (;;) {
    await sleep(seconds * 1000);
    try {
      return await pollForTokens(server, codes.device_code);
    } catch (error) {
      const next = nextInterval(error, seconds);
      if (next === undefined) throw worded(error);
      seconds = next;
    }
    if (Date.now() >= giveUpMs) throw tooLate();
  }
}

function worded(error: unknown): unknown {
  if (!(error instanceof Refused)) return error;
  if (error.code === 'access_denied') return new ClientError('the sign-in was denied; nothing was kept.');
  return error.code === 'expired_token' ? tooLate() : error;
}

function tooLate(): ClientError {
  return new ClientError('nobody approved in time; run cairn login again.');
}
