/** cairn follow: maintains a copy of the whole hub beside the running service, updated every few seconds. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonLine } from '../../../client/shown.ts';
import { StartError } from '../../../common/start-error.ts';
import type { Config } from '../../../config.ts';
import { limits } from '../../../limits/service.ts';
import type { Follower, FollowStep } from '../../../ops/backup/follow.ts';
import { lastFollowed, noteDone, noteFollowed } from '../../../ops/marks.ts';
import { KEY_FILE } from '../../../store/data-file/names.ts';
import { masterKeyOf } from '../../../store/sealing/own-key.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { print, printError } from '../../output.ts';
import { toldToEnd } from '../../process.ts';
import { UsageError } from '../../usage-error.ts';
import { openForReading } from '../read-only.ts';
import { operatorConfig } from '../settings.ts';

const DAY_MS = 86_400_000;

export const followCommand: Command = {
  name: 'follow',
  summary: 'copy everything, then new changes every few seconds, until stopped; restore can return to any moment',
  operands: ['DIR'],
  options: [takes('every', 'SECONDS'), takes('keep', 'DAYS')],
  flags: ['with-key'],
  explains: {
    every: `how often it looks for changes (${limits.followSecondsDefault})`,
    keep: `how long to keep the moments before the newest whole copy (${limits.followKeepDaysDefault})`,
    'with-key': 'also copy the master key, with each full backup',
  },
  examples: ['cairn follow /mnt/following', 'cairn follow --every 60 --keep 30 /mnt/following'],
  run: follow,
};

async function follow(options: Options): Promise<number> {
  const everyMs = number(options, 'every', limits.followSecondsDefault) * 1000;
  const keepMs = number(options, 'keep', limits.followKeepDaysDefault) * DAY_MS;
  const config = operatorConfig();
  const { Follower } = await import('../../../ops/backup/follow.ts');
  const { dataFolder, mapBytes } = config;
  const live = (at_ms: number, copying_all: boolean) =>
    noteFollowed(dataFolder, { at_ms, every_ms: everyMs, copying_all });
  const signal = toldToEnd();
  const follower = await Follower.open({
    dataFolder,
    folder: options.operand() ?? '',
    key: await keyOf(config, options.flag('with-key')),
    withKey: options.flag('with-key'),
    mapBytes,
    keepMs,
    now: Date.now,
    onWhole: () => live(lastFollowed(dataFolder)?.at_ms ?? Date.now(), true),
  });
  try {
    const tell = (step: FollowStep) => {
      noteDone(dataFolder, 'backup', { at_ms: Date.now(), problems: 0 });
      print(options.json ? jsonLine(step) : sentence(step));
    };
    const startMs = Date.now();
    tell(await follower.step(true));
    live(startMs, false);
    await repeat(follower, { everyMs, signal, tell, live });
    return 0;
  } finally {
    await follower.close();
  }
}

interface Repeating {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly tell: (step: FollowStep) => void;
  /** Notes the moment up to which everything is copied. */
  readonly live: (atMs: number, isCopyingAll: boolean) => void;
}

/** Repeats the step. Reports a failure once and retries: disk space may be freed, and a restarting hub comes back. */
async function repeat(follower: Follower, { everyMs, signal, tell, live }: Repeating): Promise<void> {
  let told = '';
  while (!signal.aborted) {
    // Rejects when cancelled; the loop checks the signal.
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const startMs = Date.now();
      const step = await follower.step();
      live(startMs, false);
      if (step.kind !== 'nothing') tell(step);
      if (told !== '') printError('cairn: following again.');
      told = '';
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      if (error.message !== told) printError(`cairn: ${error.message} Trying again every ${everyMs / 1000} s.`);
      told = error.message;
    }
  }
}

async function keyOf(config: Config, withKey: boolean): Promise<Uint8Array> {
  const { dataFolder, masterKey } = config;
  if (withKey && !existsSync(join(dataFolder, KEY_FILE))) {
    throw new StartError('--with-key copies the key file, but CAIRN_MASTER_KEY is set: keep that value yourself.');
  }
  const store = await openForReading(config);
  try {
    return masterKeyOf(dataFolder, masterKey, store);
  } finally {
    await store.close();
  }
}

function sentence({ kind, madeAt, backup, bytes }: FollowStep): string {
  return kind === 'whole' ? `${madeAt} whole copy in ${backup}: ${bytes} bytes` : `${madeAt} ${bytes} bytes`;
}

function number(options: Options, name: string, otherwise: number): number {
  const text = options.optional(name);
  const value = text === undefined ? otherwise : Number(text);
  if (!(Number.isFinite(value) && value > 0)) throw new UsageError(`--${name} must be a number above 0`);
  return value;
}
