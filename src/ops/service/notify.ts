/** Tells systemd that the hub is ready, alive and stopping, as sd_notify(3) describes. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Log } from '../../common/log.ts';
import type { ServiceManagerSettings } from '../../config.ts';

/** Signs of life in each period of the watchdog. */
const BEATS_PER_PERIOD = 3;
/**
 * Node.js cannot send a datagram to a Unix socket, so `systemd-notify` does, once per line. The shell is started early and
 * stays: starting it from a process with a large memory map takes longer, and would happen on the main thread each time.
 */
const RELAY = 'while read -r state; do systemd-notify "$state"; done';

export class ServiceManager {
  readonly #relay: ChildProcess | undefined;
  #beat: NodeJS.Timeout | undefined;
  readonly #settings: ServiceManagerSettings | undefined;

  /** Undefined `settings`: no service manager waits for notices, and none are sent. */
  constructor(settings: ServiceManagerSettings | undefined, log: Log) {
    this.#settings = settings;
    if (settings === undefined) return;
    this.#relay = spawn('/bin/sh', ['-c', RELAY], { stdio: ['pipe', 'ignore', 'ignore'] });
    const warn = (error: Error) => log.warn({ err: error }, 'systemd cannot be notified');
    this.#relay.on('error', warn);
    this.#relay.stdin?.on('error', warn);
    // Neither keeps a process alive whose start has failed.
    this.#relay.unref();
    (this.#relay.stdin as Socket).unref();
  }

  /** Call when requests are accepted. From then on each turn of the main thread's timer is a sign of life. */
  ready(): void {
    this.#tell('READY=1');
    const periodMs = this.#settings?.watchdogMs;
    if (periodMs === undefined) return;
    this.#beat = setInterval(() => this.#tell('WATCHDOG=1'), periodMs / BEATS_PER_PERIOD).unref();
  }

  /** Call before the service stops. Signs of life go on, because requests still finish. */
  stopping(): void {
    this.#tell('STOPPING=1');
  }

  /** Ends the relay. */
  close(): void {
    clearInterval(this.#beat);
    this.#relay?.stdin?.end();
  }

  #tell(state: string): void {
    this.#relay?.stdin?.write(`${state}\n`);
  }
}
