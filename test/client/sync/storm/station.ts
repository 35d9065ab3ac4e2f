/** One device in a storm: a synced folder, its user, and the watch that is killed, stopped and started over it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hub } from '../../../support/hub.ts';
import { plainly } from '../../../support/plainly.ts';
import { type SyncedFolder, syncedFolder } from '../../../support/synced-folder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { act } from './actions.ts';
import { Actor } from './actor.ts';
import { followSaves, type Journal } from './journal.ts';
import type { Ledger } from './ledger.ts';

/** Debian's package faketime; without it no clock is skewed. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
export const hasFaketime = existsSync(FAKETIME);
const SKEWS = ['+0', '+2h', '-3d', '+40s', '-10s'];
const UMASKS = ['022', '077', '002'];
const SECRET = 'outside of every synced folder';
/** How a watch ends when its folder is not where it was. */
const ROOT_GONE = 'was moved, replaced or unmounted';

export interface StationOptions {
  readonly hub: Pick<Hub, 'url'>;
  readonly key: string;
  /** Which of the storm's devices it is. */
  readonly at: number;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly isHubUp: () => boolean;
}

export class Station {
  readonly place: SyncedFolder;
  /** What watches of this folder have written, over all restarts. */
  readonly outputs: string[] = [];
  readonly #actor: Actor;
  readonly #options: StationOptions;
  readonly #endFollow: () => void;
  /** What is mounted at the folder; undefined: it is a plain one. */
  readonly #mounted: string | undefined;
  #watch: ReturnType<SyncedFolder['watch']> | undefined;
  #isAway = false;
  /** Whether a watch is to run. */
  #isWanted = false;
  /** The watch has said that it watches. */
  #isReady = false;

  constructor(options: StationOptions) {
    this.#options = options;
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'secret.txt'), SECRET);
    this.place = syncedFolder(options.hub, options.key, 'storm');
    const { folder } = this.place;
    mkdirSync(folder, { recursive: true });
    this.#mounted = options.at === 0 ? mountAt(folder) : undefined;
    const { random, ledger, isHubUp } = options;
    const isServed = () => isHubUp() && this.#watch !== undefined && this.#isReady && !this.#isAway;
    this.#endFollow =
      process.env['STORM_JOURNAL'] === undefined ? () => undefined : followSaves(folder, this.name, options.journal);
    this.#actor = new Actor({ folder, outside, random, ledger, isServed });
  }

  get name(): string {
    return this.place.folder.slice(-6);
  }

  get isWatched(): boolean {
    return this.#watch !== undefined;
  }

  /** Its user does something. Returns what kind of thing. */
  act(): string {
    if (this.#isAway) return 'nothing';
    const { name, detail } = act(this.#actor);
    if (detail !== undefined) this.#options.journal.note(this.name, `${name}: ${detail}`);
    return name;
  }

  /** Starts the watch; while the folder is away, once it is back: a watch would make it anew. */
  watch(): void {
    this.#isWanted = true;
    if (this.#isAway) return;
    const { at, journal, ledger, random } = this.#options;
    const skew = hasFaketime ? (SKEWS[at % SKEWS.length] ?? '+0') : '+0';
    const umask = UMASKS[Math.floor(random() * UMASKS.length)] ?? '022';
    this.#isReady = false;
    this.#watch = this.place.watch(skew === '+0' ? {} : fakeClock(skew), {
      wrapper: [...plainly, 'sh', '-c', `umask ${umask}; exec "$0" "$@"`],
      heard: (text) => {
        journal.note(this.name, `watch: ${text}`);
        // A folder that has not met its vault yet waits for the hub, and says so.
        if (this.#isReady || !text.includes('watching')) return;
        // What stood while nothing looked is seen from now on.
        this.#isReady = true;
        ledger.restart(this.place.folder);
      },
    });
  }

  async stop(how: 'stop' | 'kill'): Promise<void> {
    this.#isWanted = false;
    const watch = this.#watch;
    if (watch === undefined) return;
    this.#watch = undefined;
    await watch[how]();
    this.outputs.push(watch.output());
  }

  /** What a watch said that ended without being told to; it is started again. Undefined: none did. */
  restartEnded(): string | undefined {
    const watch = this.#watch;
    if (watch === undefined || this.#isAway || !watch.hasEnded()) return undefined;
    const output = watch.output();
    this.outputs.push(output);
    this.watch();
    return output.includes(ROOT_GONE) ? undefined : output;
  }

  /** The folder is moved away, or unmounted, until the returned function brings it back. */
  leave(): (() => void) | undefined {
    // A watch that has not looked at its folder yet would make it anew.
    const isStarting = this.#watch !== undefined && !this.#isReady;
    if (this.#isAway || isStarting) return undefined;
    this.#isAway = true;
    const { folder } = this.place;
    const mounted = this.#mounted;
    if (mounted === undefined) renameSync(folder, `${folder}-away`);
    else unmount(folder);
    return () => {
      if (mounted === undefined) renameSync(`${folder}-away`, folder);
      else mount(mounted, folder);
      this.#isAway = false;
      this.#options.ledger.restart(folder);
      if (this.#watch === undefined && this.#isWanted) this.watch();
    };
  }

  /** Everything may be read and written again. */
  unlock(): void {
    unlockBelow(this.place.folder);
    this.#actor.writeLate();
  }

  async end(): Promise<void> {
    await this.stop('kill');
    this.#endFollow();
    if (this.#mounted !== undefined && !this.#isAway) unmount(this.place.folder);
  }
}

function fakeClock(skew: string): Record<string, string> {
  return { LD_PRELOAD: FAKETIME, FAKETIME: skew, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** Mounts another folder there, where that is allowed. */
function mountAt(folder: string): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const backing = temporaryFolder();
  try {
    mount(backing, folder);
    return backing;
  } catch {
    // In most containers nothing can be mounted.
    return undefined;
  }
}

function mount(backing: string, folder: string): void {
  execFileSync('mount', ['--bind', backing, folder], { stdio: 'ignore' });
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
}

function unlockBelow(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const at = join(folder, entry.name);
    if (entry.name === '.cairn') continue;
    try {
      if (entry.isDirectory()) unlockBelow(at);
      else if (entry.isFile()) chmodSync(at, lstatSync(at).mode | 0o600);
    } catch (error) {
      // A watch removed it, or put a file in its place, in this moment.
      if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}
