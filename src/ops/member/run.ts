/**
 * Runs a member of several: it follows the log until it may take over, serves as a hub while it owns the log, and
 * follows again after it has handed over. The process ends by SIGKILL when another member owns the log.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess } from '../../common/end-process.ts';
import { Refusal } from '../../common/fault.ts';
import type { Log, LogSink } from '../../common/log.ts';
import { makeFolder } from '../../compose/core.ts';
import type { Doors } from '../../compose/listeners.ts';
import type { Ownership } from '../../compose/member/ownership.ts';
import type { RunningService } from '../../compose/member/running-service.ts';
import { type Config, type LogSettings, storeEnvironment } from '../../config.ts';
import { ControlSocket } from '../../control/socket.ts';
import type { MemberFigures, MemberHealth, MemberReport } from '../../http/route/health.ts';
import { limits } from '../../limits/service.ts';
import type { CommitLog } from '../../replication/log/log.ts';
import { openCommitLog } from '../../replication/log/open.ts';
import { type BeginMark, BegunAgain } from '../../replication/members/begin-again.ts';
import { LogFollower, type TakenOver } from '../../replication/members/follower.ts';
import { type MemberIdentity, memberIdentity } from '../../replication/members/identity.ts';
import { MemberLease } from '../../replication/members/lease.ts';
import { Owner } from '../../replication/members/owner.ts';
import { seedLog } from '../../replication/members/seed.ts';
import { appendUnlogged, Forked } from '../../replication/members/unlogged.ts';
import { joinSnapshot, snapshotToJoin, untilSnapshot } from '../../replication/snapshots/join.ts';
import { LogKeeper } from '../../replication/snapshots/keeper.ts';
import { prepareFolder, refuseHalfRestored } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import type { LogLag } from '../../store/logged/local-log.ts';
import { ReplicaFile } from '../../store/logged/replica.ts';
import type { Store } from '../../store/store.ts';
import { readBeginMark, removeBeginMark } from './begin-mark.ts';
import { figuresOf, healthOf, type MemberParts, whyOwning } from './health.ts';
import { answerLean, openLeanDoors } from './lean-hub.ts';
import { markMember, markSetAside, marksInTime } from './marks.ts';
import { isToSeed, proveServable } from './own-hub.ts';
import { handOverProblem, Presence } from './presence.ts';
import { keepUnlogged, removeDataFile, SetAsideFiles } from './set-aside.ts';
import { tellSetAside } from './set-aside-notice.ts';

type MemberConfig = Config & { readonly log: LogSettings };
type StartHub = (config: Config, sink: LogSink, ownership: Ownership) => Promise<RunningService>;

/** Starts a member. Resolves once it answers probes. Throws StartError when it cannot follow its log. */
export async function runMember(config: MemberConfig, sink: LogSink, startHub: StartHub): Promise<RunningService> {
  makeFolder(config.dataFolder);
  const member = new Member(config, sink, startHub, await openCommitLog(config.log.url, storeEnvironment()));
  return await member.start();
}

/** What a member has open while it follows. */
interface Lean {
  readonly replica: ReplicaFile;
  readonly follower: LogFollower;
  /** True when this folder has a hub that the log does not have yet. */
  readonly isToSeed: boolean;
  /** Set when the log is to go on with the hub of this folder. */
  readonly begins: BeginMark | undefined;
  readonly close: () => Promise<void>;
}

class Member {
  readonly #config: MemberConfig;
  readonly #sink: LogSink;
  readonly #log: Log;
  readonly #startHub: StartHub;
  readonly #commitLog: CommitLog;
  readonly #aside: SetAsideFiles;
  readonly #stopping = new AbortController();
  readonly #presence: Presence;
  /** Listen as long as this process runs. */
  #doors: Doors | undefined;
  #identity: MemberIdentity = { name: '', instance: '' };
  #follower: LogFollower | undefined;
  #owner: Owner | undefined;
  #hub: RunningService | undefined;
  #keeper: LogKeeper | undefined;
  #lag: () => LogLag | undefined = () => undefined;
  #isHandingOver = false;
  /** Ends the ownership; `to`: the member that is to take over. */
  #endOwnership: (to: string | undefined) => void = () => undefined;
  #tellBroken: (cause: unknown) => void = () => undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(config: MemberConfig, sink: LogSink, startHub: StartHub, commitLog: CommitLog) {
    this.#config = config;
    this.#sink = sink;
    this.#log = sink.log;
    this.#startHub = startHub;
    this.#commitLog = commitLog;
    this.#aside = new SetAsideFiles(config.dataFolder, () => void this.#markSetAside());
    const { leaseSeconds, keepDays } = config.log;
    const self = () => this.#parts();
    this.#presence = new Presence({ log: commitLog, leaseMs: leaseSeconds * 1000, keepDays, self, warn: sink.log });
  }

  async start(): Promise<RunningService> {
    const lean = await this.#openLean();
    const doors = await this.#openDoors(lean);
    const broken = new Promise<unknown>((resolve) => {
      this.#tellBroken = resolve;
    });
    this.#ended = this.#live(lean).catch((error: unknown) => this.#die('member: stopped', { err: error }));
    return {
      port: doors.port,
      metricsPort: doors.metricsPort,
      firstStep: undefined,
      broken,
      renewCertificate: () => this.#hub?.renewCertificate(),
      stop: async () => {
        this.#stopping.abort();
        this.#endOwnership(undefined);
        await this.#ended;
        await this.#presence.close();
        await doors.drain(0);
        await this.#commitLog.close();
      },
    };
  }

  async #live(first: Lean): Promise<void> {
    for (let opened = first; ; opened = await this.#openLean()) {
      const lean = await this.#joined(opened);
      const taken = await lean.follower.run().catch((error: unknown) => {
        if (error instanceof Forked || error instanceof BegunAgain) return error;
        throw error;
      });
      if (taken instanceof Forked) {
        await this.#setAside(lean, taken.message);
        continue;
      }
      if (taken instanceof BegunAgain) {
        await this.#joinRestored(lean, taken);
        if (this.#stopping.signal.aborted) return;
        continue;
      }
      if (taken === undefined) {
        await lean.close();
        return;
      }
      await this.#own(lean, taken);
      if (this.#stopping.signal.aborted) return;
    }
  }

  /** Opens the ports for as long as this process runs. Closes what is open when it throws. */
  async #openDoors(lean: Lean): Promise<Doors> {
    try {
      const shown = { health: () => this.#health(), figures: () => this.#figures() };
      this.#doors = await openLeanDoors({ config: this.#config, sink: this.#sink, ...shown });
      return this.#doors;
    } catch (error) {
      await lean.close();
      throw error;
    }
  }

  /** Opens the data file and the control socket for following. Closes them again when it throws. */
  async #openLean(): Promise<Lean> {
    const { dataFolder: folder, mapBytes, log: settings } = this.#config;
    const shown = { health: () => this.#health(), given: this.#config.given };
    const socket = await ControlSocket.acquire(folder, (line) => answerLean(this.#tools, shown, line));
    let replica: ReplicaFile | undefined;
    const close = async () => {
      await replica?.close();
      await socket.release();
    };
    try {
      refuseHalfRestored(folder);
      // Removes what an interrupted first start without a log has left.
      if (!existsSync(join(folder, DATA_FILE)) || existsSync(join(folder, 'first-start')))
        prepareFolder(folder, true).keep();
      const opened = new ReplicaFile({ folder, mapBytes });
      replica = opened;
      this.#identity = memberIdentity(folder, settings.member);
      const mark = readBeginMark(folder);
      const seeds = await isToSeed(opened, this.#commitLog, mark);
      const begins = seeds || opened.place !== undefined ? undefined : mark;
      const prove = () => proveServable(opened, this.#config.masterKey);
      if (seeds || begins !== undefined) prove();
      const follower = new LogFollower({
        commitLog: this.#commitLog,
        replica: opened,
        identity: this.#identity,
        log: this.#log,
        prove,
        ack: settings.ack,
        leaseMs: settings.leaseSeconds * 1000,
        priority: settings.priority,
        signal: this.#stopping.signal,
        begins,
      });
      this.#follower = follower;
      // First its sign: of a member without one, the owner could not tell that it is away.
      await this.#presence.join();
      await markMember(this.#commitLog, this.#identity, this.#log);
      await this.#markSetAside();
      return { replica: opened, follower, isToSeed: seeds, begins, close };
    } catch (error) {
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** Empties the folder for joining, once the log has a snapshot of the restored hub. */
  async #joinRestored(lean: Lean, { message, position }: BegunAgain): Promise<void> {
    const { signal } = this.#stopping;
    this.#log.warn({ position, why: message }, 'member: the log goes on with a restored hub; this member joins it');
    if (!(await untilSnapshot(this.#commitLog, position, signal))) return await lean.close();
    if (lean.replica.unlogged !== undefined) return await this.#setAside(lean, message);
    await lean.close();
    removeDataFile(this.#config.dataFolder);
  }

  /** Begins from a snapshot of the log, when this folder has nothing of it, or lacks records that were removed. */
  async #joined(lean: Lean): Promise<Lean> {
    if (lean.isToSeed || lean.begins !== undefined) return lean;
    const log = this.#commitLog;
    const manifest = await snapshotToJoin({ log, place: lean.replica.place }).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'member: the snapshots of the log cannot be read; reading its records');
      return undefined;
    });
    if (manifest === undefined) return lean;
    if (lean.replica.unlogged !== undefined) {
      await this.#setAside(lean, 'the log no longer has the record after the newest one of this data folder');
      return await this.#joined(await this.#openLean());
    }
    this.#log.info({ position: manifest.position }, 'member: joining from a snapshot');
    await lean.close();
    await joinSnapshot(log, manifest, { folder: this.#config.dataFolder, mapBytes: this.#config.mapBytes });
    return await this.#openLean();
  }

  /** Keeps what this member answered and the log never had, as a file, and empties the folder for joining. */
  async #setAside(lean: Lean, why: string): Promise<void> {
    const { dataFolder: folder } = this.#config;
    const { path, commits } = keepUnlogged(lean.replica, folder);
    await lean.close();
    removeDataFile(folder);
    this.#aside.look();
    tellSetAside(this.#config, this.#log);
    this.#log.error(
      { path, commits, why },
      'member: answered writes are not in the log and were set aside; read the file, enter what is missing again, then remove it',
    );
  }

  /** Serves as the owner until it is told to end, then hands over. */
  async #own(lean: Lean, taken: TakenOver): Promise<void> {
    const lease = new MemberLease(this.#config.log.leaseSeconds * 1000);
    lease.renew(taken.since);
    const { incarnation, end, rows } = taken;
    const owner = new Owner({
      commitLog: this.#commitLog,
      identity: this.#identity,
      ack: this.#config.log.ack,
      cell: 1,
      incarnation,
      end,
      lease,
      log: this.#log,
      die: (words, details) => this.#die(words, details),
    });
    this.#owner = owner;
    if (lean.isToSeed) await seedLog(lean.replica, owner, this.#log);
    else await lean.replica.apply(rows, { cell: 1, incarnation, ...end });
    const records = await appendUnlogged(lean.replica, owner);
    if (records > 0) this.#log.info({ records }, 'member: the log has what a crash kept from it');
    await lean.close();
    const ended = new Promise<string | undefined>((resolve) => {
      this.#endOwnership = resolve;
    });
    const hub = await this.#startHub(this.#config, this.#sink, this.#ownership(owner, incarnation));
    this.#hub = hub;
    void hub.broken.then(this.#tellBroken);
    this.#log.info({ state: 'owning', position: owner.end.position }, 'member: state');
    if (hub.firstStep !== undefined) this.#log.info(hub.firstStep);
    // The others wait for it. If it fails, the keeper makes it later.
    if (removeBeginMark(this.#config.dataFolder)) void this.#snapshot().catch(() => undefined);
    if (this.#stopping.signal.aborted) this.#endOwnership(undefined);
    const to = await ended;
    this.#isHandingOver = true;
    this.#log.info({ state: 'handing over', to }, 'member: state');
    await hub.stop();
    this.#hub = undefined;
    this.#keeper = undefined;
    this.#lag = () => undefined;
    await owner.handOver(to);
    this.#owner = undefined;
    this.#isHandingOver = false;
  }

  #ownership(owner: Owner, incarnation: string): Ownership {
    const refusal = () =>
      ({ kind: 'not_owner', state: this.#health().message, retryAfterSeconds: limits.retryAfterSeconds }) as const;
    return {
      ...this.#tools,
      recordLog: owner,
      mayServe: () => (owner.lease.isValid && !this.#isHandingOver ? undefined : refusal()),
      // A write that was answered before the log had it is done.
      isUnsure: () => owner.ack === 'log' && owner.isUnsure,
      front: this.#doors as Doors,
      health: () => this.#health(),
      figures: () => this.#figures(),
      keepLog: (store) => this.#keepLog(store, owner, incarnation),
    };
  }

  #keepLog(store: Store, owner: Owner, incarnation: string): LogKeeper {
    const { dataFolder: folder, mapBytes, log: settings } = this.#config;
    const keeper = new LogKeeper({
      commitLog: this.#commitLog,
      store,
      folder,
      mapBytes,
      keepDays: settings.keepDays,
      incarnation,
      position: () => owner.end.position,
      log: this.#log,
    });
    keeper.start();
    this.#keeper = keeper;
    this.#lag = () => store.logLag;
    return keeper;
  }

  readonly #tools = {
    report: (): Promise<MemberReport> => this.#report(),
    handOver: (to: string | undefined): Promise<void> => this.#handOver(to),
    snapshot: (): Promise<number> => this.#snapshot(),
    forget: (name: string): Promise<void> => this.#presence.forget(name),
    troubles: () => this.#presence.troubles,
    appendingMs: () => this.#owner?.appendingMs ?? 0,
  };

  async #report(): Promise<MemberReport> {
    const { members, aside } = await marksInTime(this.#commitLog);
    const left = this.#owner === undefined ? null : Math.round(this.#owner.lease.leftMs);
    const { troubles } = this.#presence;
    const why = this.#owner === undefined ? (this.#follower?.why ?? '') : whyOwning(this.#owner);
    return { ...this.#health(), why, lease_left_ms: left, members, set_aside_by: aside, troubles };
  }

  async #snapshot(): Promise<number> {
    if (this.#keeper === undefined) throw this.#notHere('make the snapshot');
    return await this.#keeper.snapshot();
  }

  #notHere(act: string): Refusal {
    const { owner, message } = this.#health();
    const where = owner === null ? '' : `, ${owner}`;
    return new Refusal({ kind: 'not_found', what: `${message}; ${act} on the owner${where}` });
  }

  async #handOver(to: string | undefined): Promise<void> {
    if (this.#hub === undefined) throw this.#notHere('hand over');
    const { members } = await this.#report();
    const self = this.#identity.name;
    const problem = handOverProblem({ to, self, members, troubles: this.#presence.troubles });
    if (problem !== undefined) throw new Refusal({ kind: 'not_found', what: problem });
    // After the answer has left.
    setTimeout(() => this.#endOwnership(to), 50);
  }

  /** Lets the other members know what this one has set aside. */
  async #markSetAside(): Promise<void> {
    const { name } = this.#identity;
    await markSetAside({ log: this.#commitLog, member: name, files: this.#aside.names, warn: this.#log });
  }

  #health(): MemberHealth {
    return healthOf(this.#parts());
  }

  #figures(): MemberFigures {
    return figuresOf(this.#parts());
  }

  #parts(): MemberParts {
    return {
      identity: this.#identity,
      owner: this.#owner,
      follower: this.#follower,
      isServing: this.#hub !== undefined,
      isHandingOver: this.#isHandingOver,
      lag: this.#lag(),
      setAside: this.#aside.names.length,
    };
  }

  #die(words: string, details: Readonly<Record<string, unknown>>): void {
    this.#log.fatal(details, words);
    this.#sink.flush();
    endProcess(1);
  }
}
