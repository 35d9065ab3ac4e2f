/** cairn serve: runs the service until SIGTERM or SIGINT, then drains it. */

import { resolve as absolute } from 'node:path';
import { endProcess } from '../../common/end-process.ts';
import { type Log, type LogSink, openLog } from '../../common/log.ts';
import { commit, version } from '../../common/version.ts';
import type { RunningService } from '../../compose/member/running-service.ts';
import { ownAddress } from '../../compose/own-address.ts';
import { type Config, readConfig, readServiceManager } from '../../config.ts';
import { ServiceManager } from '../../ops/service/notify.ts';
import { isCommitFailure } from '../../store/failure.ts';
import type { Command } from '../command.ts';
import { writeCompileCache } from '../compile-cache.ts';
import { print } from '../output.ts';
import { ignoreForeignSignals } from '../process.ts';

const BROKEN =
  'the process cannot continue after this disk failure; check the disk, then start it again: all acknowledged data is stored';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the service',
  examples: ['cairn serve', 'CAIRN_PORT=9000 CAIRN_DATA=/srv/cairn cairn serve'],
  run: serve,
};

async function serve(): Promise<number> {
  // First, so that its sentence comes before errors of other libraries.
  await import('../../http/library/uws.ts');
  const { startService } = await import('../../main.ts');
  const config = readConfig();
  const format = config.logFormat ?? (process.stdout.isTTY ? 'text' : 'json');
  const sink = openLog(config.logLevel, { accessFile: config.accessLog, format });
  const { log, flush } = sink;
  for (const warning of config.warnings) log.warn(warning);
  const die = (error: unknown, what: string) => {
    log.fatal({ err: error }, what);
    flush();
    endProcess(1);
  };
  process.on('uncaughtException', (error) => die(error, 'an unexpected error outside any request'));
  process.on('unhandledRejection', (reason) => {
    if (!isCommitFailure(reason)) die(reason, 'unhandled promise rejection');
  });
  ignoreForeignSignals((signal) => log.warn(`${signal} is ignored; send SIGHUP to open the access log again`));
  const manager = new ServiceManager(readServiceManager(), log);
  let service: RunningService;
  try {
    service = await startService(config, sink);
  } catch (error) {
    flush();
    throw error;
  }
  void service.broken.then((cause) => {
    // Draining is impossible; the refused requests are answered in this turn of the event loop.
    setImmediate(() => die(cause, BROKEN));
  });
  if (format === 'text') print(welcome(service, config));
  else if (service.firstStep !== undefined) log.info(service.firstStep);
  const { port, metricsPort } = service;
  const more = metricsPort === undefined ? {} : { metrics_port: metricsPort };
  log.info({ version, commit, port, ...more, host: config.host, pid: process.pid }, 'listening');
  manager.ready();
  writeCompileCache();
  await new Promise<void>((resolve) => {
    process.on('SIGHUP', () => {
      // A terminal that is closed ends the service; a service manager, logrotate or certbot means what is in files.
      if (process.stdout.isTTY) resolve();
      else {
        reopen(sink);
        renewCertificate(service, log);
      }
    });
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
  log.info('stopping');
  manager.stopping();
  await service.stop();
  manager.close();
  log.info('stopped');
  flush();
  // The threads of the store may outlive the close; they have no work left.
  process.exit(0);
}

function reopen({ log, access, reopen: open }: LogSink): void {
  if (access === undefined) {
    log.info('SIGHUP: there is no access log to reopen; restart the service to change its settings');
    return;
  }
  try {
    open();
    log.info('the access log was reopened');
  } catch (error) {
    log.error({ err: error }, 'the access log cannot be reopened; its lines still go to the old file');
  }
}

function renewCertificate(service: RunningService, log: Log): void {
  try {
    const isNew = service.renewCertificate();
    if (isNew === undefined) return;
    if (!isNew) log.info('SIGHUP: the TLS certificate has not changed');
    else log.info('the TLS certificate is renewed; new connections get it');
  } catch (error) {
    log.error({ err: error }, 'the TLS certificate is not renewed; new connections get the previous one');
  }
}

/** Startup message for a person at a terminal: address of the hub, data folder, next step. */
function welcome({ port, firstStep }: RunningService, config: Config): string {
  const address = ownAddress(config, port);
  const next = firstStep === undefined ? `open ${address} in a browser` : firstStep.replace(/^[^:]*: /, '');
  return `
Cairn ${version} is running at ${address}
Data:  ${absolute(config.dataFolder)}
Next:  ${next}
Help:  ${address}/help, or \`cairn help\`
Stop:  Ctrl-C
`;
}
