/**
 * Runs one front: a thread with its own sockets. It answers read-only requests from the store written by the hub
 * thread, and hands over all others. Started by `fronts.ts`.
 */
import '../compose/memory-tuning.ts';
import { parentPort, workerData } from 'node:worker_threads';
import { logTo } from '../common/log.ts';
import { doorSettings } from '../compose/listeners.ts';
import { openReaders } from '../compose/readers.ts';
import { readConfig } from '../config.ts';
import { ToolTraffic } from '../gateway/tool-traffic.ts';
import { Admission, admissionCells } from '../http/checks/admission.ts';
import { LoopDelay } from '../http/checks/loop-delay.ts';
import { elapsedMs, Rates } from '../http/checks/rates.ts';
import { FrontDoor } from '../http/front-door.ts';
import { RequestLog } from '../http/measure/request-log.ts';
import { Traffic } from '../http/measure/traffic.ts';
import { joined } from '../http/request/body.ts';
import { createAddressResolver } from '../http/request/client-address.ts';
import { parseJson } from '../http/request/json-body.ts';
import { limits } from '../limits/service.ts';
import { FrontRequests } from './front-requests.ts';
import { HandOver } from './hand-over.ts';
import type { FromFront, FromHub, FrontStart, Turn } from './messages.ts';
import { Outbox } from './outbox.ts';

if (parentPort === null) throw new Error('a front is started by the hub');
const port = parentPort;
const start = workerData as FrontStart;
const config = readConfig();
const outbox = new Outbox<FromFront>(port);
const linesTo = (to: 'log' | 'access') => ({
  write: (line: string) => {
    outbox.add({ kind: 'line', line, to });
  },
});
const log = logTo(linesTo('log'), config.logLevel);
const access = config.accessLog === undefined ? undefined : logTo(linesTo('access'), 'info');

const traffic = new Traffic();
const toolTraffic = new ToolTraffic();
const readers = openReaders({
  config,
  revisions: start.revisions,
  toolTraffic,
  onUsed: (accountId, keyId) => {
    outbox.add({ kind: 'used', accountId, keyId });
  },
  onDamage: (of) => {
    outbox.add({ kind: 'damage', of });
  },
  log,
});
const handOver = new HandOver(outbox);
const requests = new FrontRequests({ readers, handOver, accept: (socket, head) => door.accept(socket, head) });
const loop = new LoopDelay();
const door = new FrontDoor({
  ...doorSettings(config),
  routes: readers.routes,
  clientAddress: createAddressResolver(config.trustedProxies),
  rates: new Rates(config, elapsedMs, start.rates),
  traffic,
  requestLog: new RequestLog({ log, access, slowMs: config.slowMs }),
  admission: new Admission({
    connectionsMax: start.connectionsMax,
    streamsMax: config.streamsMax,
    inflightBytesMax: config.inflightBytesMax,
    loopDelayMsMax: config.loopDelayMsMax,
    loopDelayMs: () => loop.medianMs,
    threads: { cells: admissionCells(start.fronts + 1, start.held), own: start.own },
  }),
  parseJson: (parts) => parseJson(joined(parts)),
  log,
  acceptedAt: start.port,
  desk: (socket, head) => requests.take(socket, head),
});

function tellFigures(): void {
  outbox.add({ kind: 'figures', traffic: traffic.take(), tools: toolTraffic.take() });
}

async function end(seconds: number): Promise<void> {
  const untilMs = performance.now() + seconds * 1000;
  await handOver.quiet(seconds);
  await door.drain(Math.max(0, untilMs - performance.now()) / 1000);
  loop.close();
  tellFigures();
  outbox.flush();
  await readers.store.close();
  port.close();
  process.exit(0);
}

port.on('message', (turn: Turn<FromHub>) => {
  for (const message of turn.messages) {
    if (message.kind === 'answer') handOver.answer(message, turn);
    else if (message.kind === 'received') handOver.received(message.bytes);
    else if (message.kind === 'cut') door.cut(message.accountId);
    else if (message.kind === 'tell_figures') tellFigures();
    else if (message.kind === 'drain') requests.drain();
    // Connections already accepted for this thread may still be in transit.
    else if (message.kind === 'leave') setTimeout(() => void leave(), limits.frontLeaveMs);
    else void end(message.seconds);
  }
});

// Exiting a thread with an open application, or while it receives a connection, would end the whole process. So a
// broken front first asks the hub thread to stop sending connections.
let isBroken = false;
process.on('uncaughtException', (error) => {
  log.error({ err: error, front: start.own }, 'an assumption broke in a front');
  if (isBroken) return;
  isBroken = true;
  requests.drain();
  outbox.add({ kind: 'broken' });
});

async function leave(): Promise<void> {
  door.close();
  loop.close();
  tellFigures();
  outbox.flush();
  await readers.store.close();
  process.exit(1);
}

outbox.add({ kind: 'ready', child: door.family.describe() });
