/** A front door over a test's own routes, in the test's process. */
import { pino } from 'pino';
import { Admission } from '../../src/http/checks/admission.ts';
import { Rates } from '../../src/http/checks/rates.ts';
import { FrontDoor, type FrontDoorOptions } from '../../src/http/front-door.ts';
import { RequestLog } from '../../src/http/measure/request-log.ts';
import { Traffic } from '../../src/http/measure/traffic.ts';
import { joined } from '../../src/http/request/body.ts';
import { parseJson } from '../../src/http/request/json-body.ts';

/** Nothing is limited and nothing is logged, unless `more` says so. */
export function frontDoor(more: Pick<FrontDoorOptions, 'routes'> & Partial<FrontDoorOptions>): FrontDoor {
  const log = more.log ?? pino({ level: 'silent' });
  return new FrontDoor({
    isBlockedAgent: () => false,
    clientAddress: (peer) => peer,
    tls: undefined,
    isSecure: false,
    bodySeconds: 60,
    handlerSeconds: 60,
    origins: { allowed: [], isOwn: () => true },
    rates: new Rates({ callsPerMinute: 0, accountCallsPerMinute: 0, signInsPerMinute: 0 }, Date.now),
    traffic: new Traffic(),
    admission: new Admission({
      connectionsMax: 100,
      streamsMax: 100,
      inflightBytesMax: 1_000_000,
      loopDelayMsMax: 0,
      loopDelayMs: () => 0,
    }),
    stallSeconds: 60,
    parseJson: (parts) => parseJson(joined(parts)),
    requestLog: new RequestLog({ log, access: undefined, slowMs: 0 }),
    log,
    ...more,
  });
}
