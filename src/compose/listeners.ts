/** Opens the sockets for the routes: the service's own, and one for the metrics when they have a separate port. */
import { type Config, isSecure } from '../config.ts';
import { Admission } from '../http/checks/admission.ts';
import { createAgentCheck } from '../http/checks/agent.ts';
import { ownOrigin } from '../http/checks/origin.ts';
import { FrontDoor, type FrontDoorOptions } from '../http/front-door.ts';
import type { ChildDescriptor } from '../http/library/listen.ts';
import { boundReceiveBuffer } from '../http/receive-buffer.ts';
import type { Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { isLoopback } from '../settings/schema.ts';

/** Options shared by all doors, in addition to the settings. */
type Shared = Pick<
  FrontDoorOptions,
  'clientAddress' | 'rates' | 'traffic' | 'requestLog' | 'parseJson' | 'log' | 'mayServe' | 'isUnsure'
>;

export interface DoorRoutes {
  readonly service: readonly Route[];
  /** Served on the separate port of the metrics. */
  readonly metrics: readonly Route[];
}

export class Doors {
  readonly port: number;
  /** Undefined when the metrics have no separate port. */
  readonly metricsPort: number | undefined;
  readonly #doors: FrontDoor[] = [];
  /** The doors that accept connections for these; undefined: they listen themselves. */
  readonly #front: Doors | undefined;
  /** The door that gets all connections of the service since its certificate was renewed; undefined before. */
  #successor: ChildDescriptor;
  #metricsTaken: ChildDescriptor;

  private constructor(config: Config, options: FrontDoorOptions, metrics: readonly Route[], front: Doors | undefined) {
    this.#front = front;
    try {
      this.port = front?.port ?? this.#open(options).listen(config.host, config.port);
      if (front === undefined && isLoopback(config.host)) void boundReceiveBuffer(this.port);
      if (front !== undefined) this.#successor = this.#takeOver(front.#service, { ...options, acceptedAt: this.port });
      if (config.metricsPort === undefined) return;
      // Separate limits: monitoring must work when the service is overloaded.
      const admission = new Admission({ ...UNHURRIED, inflightBytesMax: 0 });
      const forMetrics = { ...options, routes: metrics, tls: undefined, isSecure: false, admission };
      const [, frontMetrics] = front === undefined ? [] : front.#doors;
      if (frontMetrics !== undefined) {
        this.metricsPort = front?.metricsPort;
        this.#metricsTaken = this.#takeOver(frontMetrics, { ...forMetrics, acceptedAt: config.metricsPort });
        return;
      }
      const door = this.#open(forMetrics);
      this.metricsPort = door.listen('127.0.0.1', config.metricsPort, 'CAIRN_METRICS_PORT');
    } catch (error) {
      void this.drain(0);
      throw error;
    }
  }

  /**
   * Binds the ports. Throws StartError when an address is in use. With `front`, these doors get all connections that
   * those accept, until they are drained.
   */
  static open(config: Config, shared: Shared, admission: Admission, routes: DoorRoutes, front?: Doors): Doors {
    const options = { ...shared, ...doorSettings(config), admission, routes: routes.service };
    return new Doors(config, options, routes.metrics, front);
  }

  /** The door of the service (not the metrics'). */
  get #service(): FrontDoor {
    return this.#doors[0] as FrontDoor;
  }

  /**
   * Opens a door that reads the TLS files now, and gives it all new connections; open ones stay where they are. The
   * first door goes on listening, so no connection is refused meanwhile.
   */
  succeed(): void {
    const accepting = this.#front === undefined ? this.#service : this.#front.#service;
    const successor = this.#open({ ...this.#service.options, acceptedAt: this.port }).family.describe();
    accepting.family.add(successor);
    if (this.#successor !== undefined) accepting.family.remove(this.#successor);
    this.#successor = successor;
  }

  /** Closes the connections of an account's active requests. */
  cut(accountId: string): void {
    for (const door of this.#doors) door.cut(accountId);
  }

  /**
   * Stops accepting and waits for active requests, at most `seconds` per door. The service's door is first, the
   * metrics' last.
   */
  async drain(seconds: number): Promise<void> {
    this.#giveBack();
    for (const door of this.#doors) await door.drain(seconds);
  }

  /** Opens a door that gets the connections of one in front. */
  #takeOver(front: FrontDoor, options: FrontDoorOptions): ChildDescriptor {
    const descriptor = this.#open(options).family.describe();
    front.family.add(descriptor);
    return descriptor;
  }

  /** From now on the doors in front keep the connections that they accept. */
  #giveBack(): void {
    const [service, metrics] = this.#front === undefined ? [] : this.#front.#doors;
    if (this.#successor !== undefined) service?.family.remove(this.#successor);
    if (this.#metricsTaken !== undefined) metrics?.family.remove(this.#metricsTaken);
    if (service !== undefined) [this.#successor, this.#metricsTaken] = [undefined, undefined];
  }

  #open(options: FrontDoorOptions): FrontDoor {
    const door = new FrontDoor(options);
    this.#doors.push(door);
    return door;
  }
}

/** The options of a door that come from the settings. */
function doorSettings(config: Config) {
  const { blockedAgents, allowMissingAgent, bodySeconds, handlerSeconds, stallSeconds, allowedOrigins, tls } = config;
  return {
    isBlockedAgent: createAgentCheck({ blocked: blockedAgents, allowMissing: allowMissingAgent }),
    bodySeconds,
    handlerSeconds,
    stallSeconds,
    origins: { allowed: allowedOrigins, isOwn: ownOrigin(config.publicUrl, config.host) },
    tls,
    isSecure: isSecure(config),
  };
}

const UNHURRIED = {
  connectionsMax: limits.metricsConnectionsMax,
  streamsMax: limits.metricsConnectionsMax,
  loopDelayMsMax: 0,
  loopDelayMs: () => 0,
} as const;
