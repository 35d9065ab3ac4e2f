/** A hub, a client that is registered with it, and its person at a browser: what the suite needs to sign in. */
import { register } from '../../support/authorize.ts';
import { findFreePort, untilListening } from '../../support/free-port.ts';
import { PASSWORD } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { startHub } from '../../support/hub.ts';
import { signedUp } from '../../support/page-client.ts';

export interface SignIn {
  /** The authorization server. */
  readonly url: string;
  readonly clientId: string;
  /** Where the client waits for the answer of the person, at `/callback`. */
  readonly port: number;
  /** The person opens the address that the client shows, consents, and is sent back. */
  readonly consent: (address: string) => Promise<void>;
  readonly stop: () => Promise<unknown>;
}

export async function startSignIn(): Promise<SignIn> {
  const hub = await startHub();
  const port = await findFreePort();
  const browser = await signedUp(hub, 'person@example.org', PASSWORD);
  return {
    url: hub.url,
    clientId: await register(hub, `http://127.0.0.1:${port}/callback`),
    port,
    async consent(address) {
      const { pathname, search } = new URL(address);
      await browser.open(pathname + search);
      const answer = await browser.post(
        '/oauth/authorize',
        browser.fieldsOf('/oauth/authorize', { answer: 'authorize' }),
      );
      const { origin, pathname: path, search: query } = new URL(String(answer.headers['location']));
      // The client shows the address before it waits for the answer.
      await untilListening(port);
      await call({ url: origin }, path + query);
    },
    stop: () => hub.stop(),
  };
}
