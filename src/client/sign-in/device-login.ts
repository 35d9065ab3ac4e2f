/** Signs this device in to a hub: shows a code, then polls until a person approves it in a browser (RFC 8628). */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../limits/service.ts';
import { ClientError, Unreachable } from '../client-error.ts';
import { askForCodes, Busy, type DeviceCodes, type IssuedTokens, pollForTokens, Refused } from './oauth.ts';

/** The next polling interval in seconds after an answer (RFC 8628, 3.5); undefined: stop polling. */
export function nextInterval(error: unknown, seconds: number): number | undefined {
  if (error instanceof Refused && error.code === 'authorization_pending') return seconds;
  if (error instanceof Refused && error.code === 'slow_down') return seconds + limits.devicePollStepSeconds;
  if (error instanceof Busy) return Math.max(seconds, error.retryAfterSeconds);
  // Backs off when the hub is unreachable; the next poll may succeed.
  return error instanceof Unreachable ? Math.min(seconds * 2, limits.clientPollSecondsMax) : undefined;
}

/** Signs this device in; `show` receives the instructions for the user. Throws ClientError when denied or expired. */
export async function signInDevice(
  server: string,
  deviceName: string,
  show: (codes: DeviceCodes) => void,
): Promise<IssuedTokens> {
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
  if (error.code === 'access_denied')
    return new ClientError('the sign-in was denied in the browser. Run `cairn login` to try again.');
  return error.code === 'expired_token' ? tooLate() : error;
}

function tooLate(): ClientError {
  return new ClientError('the code was not approved in time. Run `cairn login` again.');
}
