/** Starts, restarts and ends the front threads. Runs on the hub thread. */
import { Worker } from 'node:worker_threads';
import type { Log, LogSink } from '../common/log.ts';
import { StartError } from '../common/start-error.ts';
import type { FrontDoor } from '../http/front-door.ts';
import type { ChildDescriptor } from '../http/library/listen.ts';
import { limits } from '../limits/service.ts';
import type { DamagedKind } from '../store/data-file/damage.ts';
import { FrontDesk } from './front-desk.ts';
import type { Figures, FromFront, FromHub, FrontNews, FrontStart, Turn } from './messages.ts';
import { Outbox } from './outbox.ts';

export interface FrontsOptions {
  /** Number of fronts. */
  readonly fronts: number;
  readonly start: Omit<FrontStart, 'own' | 'fronts'>;
  /** The door that accepts connections and answers the requests handed over. */
  readonly door: Pick<FrontDoor, 'accept' | 'family'>;
  /** Called when a thread is gone, with all that it held. */
  readonly onEnded: (thread: number) => void;
  readonly onUsed: (accountId: string, keyId: string) => void;
  readonly onDamage: (kind: DamagedKind) => void;
  readonly onFigures: (thread: number, figures: Figures) => void;
  readonly onLine: LogSink['write'];
  readonly log: Log;
}

interface Front {
  readonly worker: Worker;
  readonly outbox: Outbox<FromHub>;
  readonly desk: FrontDesk;
  readonly startedMs: number;
  readonly ended: Promise<void>;
  /** Undefined while no connections are accepted for it. */
  child: ChildDescriptor;
  isReady: boolean;
  whenTold: (() => void) | undefined;
}

export class Fronts {
  readonly #options: FrontsOptions;
  /** By thread number; 0 is the hub thread. */
  readonly #running = new Map<number, Front>();
  #isEnding = false;
  #restarts = 0;

  constructor(options: FrontsOptions) {
    this.#options = options;
  }

  /** How many fronts exited unexpectedly. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Starts all fronts. Throws StartError when one does not start. */
  async start(): Promise<void> {
    const threads = Array.from({ length: this.#options.fronts }, (_, index) => index + 1);
    await Promise.all(threads.map((thread) => this.#start(thread)));
  }

  /** Aborts the running exchanges of an account in every front. */
  cut(accountId: string): void {
    this.#tell({ kind: 'cut', accountId });
  }

  /** Makes the fronts hand over every request from now on. Resolves when all requests taken before have arrived here. */
  async drain(): Promise<void> {
    this.#tell({ kind: 'drain' });
    await this.tellFigures();
  }

  /** Requests the figures counted since the last report and waits for them, at most `limits.frontFiguresMs`. */
  async tellFigures(): Promise<void> {
    const told = [...this.#running.values()].map(
      (front) =>
        new Promise<void>((resolve) => {
          front.whenTold = resolve;
          setTimeout(resolve, limits.frontFiguresMs).unref();
        }),
    );
    this.#tell({ kind: 'tell_figures' });
    await Promise.all(told);
  }

  /** Lets the fronts finish their answers within `seconds`, and resolves when all have exited. */
  async end(seconds: number): Promise<void> {
    this.#isEnding = true;
    this.#tell({ kind: 'end', seconds });
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #tell(message: FromHub): void {
    for (const { outbox } of this.#running.values()) outbox.add(message);
  }

  #start(thread: number): Promise<void> {
    const { fronts, start, door, log } = this.#options;
    const workerData: FrontStart = { ...start, own: thread, fronts };
    const worker = new Worker(new URL('./front-thread.js', import.meta.url), { workerData, name: `front ${thread}` });
    const outbox = new Outbox<FromHub>(worker);
    return new Promise((resolve, reject) => {
      const desk = new FrontDesk({
        outbox,
        accept: (socket, head) => door.accept(socket, head),
        onNews: (news) => {
          this.#onNews(thread, news);
          if (news.kind === 'ready') resolve();
        },
      });
      worker.on('message', (turn: Turn<FromFront>) => desk.receive(turn));
      worker.on('error', (error) => log.error({ err: error, front: thread }, 'a front failed'));
      const ended = new Promise<void>((settle) => {
        worker.on('exit', () => {
          reject(new StartError('a front thread (CAIRN_FRONTS) ended while it started; the log has the reason.'));
          this.#onExit(thread);
          settle();
        });
      });
      const startedMs = performance.now();
      this.#running.set(thread, {
        worker,
        outbox,
        desk,
        startedMs,
        ended,
        child: undefined,
        isReady: false,
        whenTold: undefined,
      });
    });
  }

  #onNews(thread: number, news: FrontNews): void {
    const { door, onUsed, onDamage, onFigures, onLine } = this.#options;
    const front = this.#running.get(thread);
    if (news.kind === 'ready' && front !== undefined) {
      front.child = news.child;
      front.isReady = true;
      door.family.add(news.child);
    } else if (news.kind === 'broken' && front !== undefined) {
      this.#orphan(front);
      front.outbox.add({ kind: 'leave' });
    } else if (news.kind === 'used') onUsed(news.accountId, news.keyId);
    else if (news.kind === 'damage') onDamage(news.of);
    else if (news.kind === 'line') onLine(news.line, news.to);
    else if (news.kind === 'figures') {
      onFigures(thread, news);
      front?.whenTold?.();
    }
  }

  /** Stops accepting connections for a front. */
  #orphan(front: Front): void {
    if (front.child !== undefined) this.#options.door.family.remove(front.child);
    front.child = undefined;
  }

  /** A front exited: its connections are lost, and their requests are aborted. */
  #onExit(thread: number): void {
    const front = this.#running.get(thread);
    if (front === undefined) return;
    this.#running.delete(thread);
    const { log, onEnded, onFigures } = this.#options;
    this.#orphan(front);
    onEnded(thread);
    onFigures(thread, { traffic: { active: 0, routes: [] }, tools: [] });
    front.desk.abandon();
    front.whenTold?.();
    if (this.#isEnding || !front.isReady) return;
    this.#restarts += 1;
    log.error({ front: thread }, 'a front ended on its own; its connections are lost, and it is started again');
    // Delays the restart of a front that exited soon after its start, to avoid a restart loop.
    const isEarly = performance.now() - front.startedMs < limits.frontStartMs;
    const again = () => {
      if (!this.#isEnding) this.#start(thread).catch((error: unknown) => this.#onFailedStart(thread, error));
    };
    setTimeout(again, isEarly ? limits.frontRestartMs : 0).unref();
  }

  #onFailedStart(thread: number, error: unknown): void {
    this.#options.log.error({ err: error, front: thread }, 'a front did not start again');
    const again = () => {
      if (!this.#isEnding) this.#start(thread).catch((failed: unknown) => this.#onFailedStart(thread, failed));
    };
    setTimeout(again, limits.frontRestartMs).unref();
  }
}
