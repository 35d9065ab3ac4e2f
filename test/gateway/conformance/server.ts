/** A gateway of the product's own parts that serves the fixtures of the conformance suite, which sends no credential. */
import { createHmac, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { OnceCalls } from '../../../src/actors/once/calls.ts';
import { readGatewayBody } from '../../../src/gateway/body/read-body.ts';
import { Gateway } from '../../../src/gateway/gateway.ts';
import { openKnownResults } from '../../../src/gateway/known-results.ts';
import { Listening } from '../../../src/gateway/listening/listening.ts';
import { Offers } from '../../../src/gateway/offers/offers.ts';
import { ToolRegistry } from '../../../src/gateway/registry.ts';
import { gatewayRoutes, SIGN_IN_DOOR } from '../../../src/gateway/routes.ts';
import { ownOrigin } from '../../../src/http/checks/origin.ts';
import { joined } from '../../../src/http/request/body.ts';
import { createSealer } from '../../../src/store/sealing/seal.ts';
import { frontDoor } from '../../support/front-door.ts';
import { fixturePrompts, fixtureResources, fixtureTools } from './fixtures.ts';

const HOST = '127.0.0.1';
/** Nothing of the fixtures is ever written. */
const STILL = { watch: () => undefined, revision: () => 0 };

/** Starts it on a free port. `url` is the door that always has a session: everybody is the same account. */
export function startFixtureGateway(): { readonly url: string; readonly stop: () => void } {
  const registry = new ToolRegistry(fixtureTools);
  const answers = openKnownResults({ revision: () => 0, now: Date.now });
  const secret = randomBytes(32);
  const once = new OnceCalls({ store: { get: () => undefined }, sealer: createSealer(secret), now: Date.now });
  const offered = { resources: fixtureResources, prompts: fixturePrompts };
  const gateway = new Gateway({
    registry,
    answers,
    once,
    offers: new Offers(offered),
    listening: new Listening({ ...offered, store: STILL, accountOfVault: () => undefined }),
    states: {
      keyedHash: (purpose, text) => createHmac('sha256', secret).update(`${purpose}\n${text}`).digest('base64url'),
      now: Date.now,
    },
    version: 'fixtures',
    icon: '/icon.svg',
    log: pino({ level: 'silent' }),
  });
  const door = frontDoor({
    routes: gatewayRoutes({
      gateway,
      registry,
      answers,
      once,
      parse: {
        messages: (parts) => readGatewayBody(joined(parts), { kind: 'messages', contentTools: [] }),
        args: (parts) => readGatewayBody(joined(parts), { kind: 'document' }).document,
      },
      access: Object.assign(() => ({ accountId: 'fixtures', credentialId: 'fixtures' }), { accepts: [] }),
      baseUrl: (host) => `http://${host}`,
      metadataUrl: undefined,
    }),
    origins: { allowed: [], isOwn: ownOrigin(undefined, HOST) },
  });
  const port = door.listen(HOST, 0);
  return { url: `http://${HOST}:${port}${SIGN_IN_DOOR}?toolsets=all`, stop: () => door.drain(0) };
}
