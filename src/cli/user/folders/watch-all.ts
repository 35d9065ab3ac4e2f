/**
 * cairn sync watch --all: one process for every folder of the list. The failure of one is its own, and the list may change
 * meanwhile: a folder that is added begins, one that is removed ends.
 */
import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ClientError } from '../../../client/client-error.ts';
import { quoted, shownLine } from '../../../client/shown.ts';
import { Bell } from '../../../client/sync/run/bell.ts';
import { type ListedFolder, readFolderList } from '../../../client/sync/watch/folder-list.ts';
import { limits } from '../../../limits/service.ts';
import { stopped, type WatchOptions, watchOne } from '../sync-watch.ts';
import { voiceOf } from '../watch-voice.ts';

type AllOptions = Omit<WatchOptions, 'prefix'>;

interface Watched {
  /** Its entry, as JSON: another one ends this watch. */
  readonly entry: string;
  readonly end: () => void;
  /** The exit code of its watch. */
  readonly ended: Promise<number>;
  readonly hasEnded: () => boolean;
}

/** Watches every folder of the list until stopped, or until all of them have ended. Resolves with the worst exit code. */
export async function watchAll(file: string, options: AllOptions): Promise<number> {
  const { signal } = options;
  const watched = new Map<string, Watched>();
  const news = new Bell();
  let isChanged = true;
  const list = watchFile(file, () => {
    isChanged = true;
    news.ring();
  });
  signal.addEventListener('abort', () => news.ring(), { once: true });
  try {
    while (!signal.aborted) {
      news.silence();
      if (isChanged) {
        isChanged = false;
        await follow(listOf(file, watched.size > 0), watched, (one) => begin(one, options, () => news.ring()));
      }
      if (watched.size > 0 && [...watched.values()].every(({ hasEnded }) => hasEnded())) break;
      await news.rung();
    }
  } finally {
    list.close();
  }
  const codes = await Promise.all([...watched.values()].map(({ ended }) => ended));
  return codes.includes(1) ? 1 : Math.max(0, ...codes);
}

/** The list; undefined when it cannot be read while folders are watched, which is told. Throws ClientError. */
function listOf(file: string, isRunning: boolean): readonly ListedFolder[] | undefined {
  try {
    return readFolderList(file);
  } catch (error) {
    if (!isRunning || !(error instanceof ClientError)) throw error;
    voiceOf(false, { prefix: '', folder: '' }).warns('list', `${stopped(error.message)} The folders stay as they are.`);
    return undefined;
  }
}

/** Ends what is no longer listed, and begins what is new, has another entry, or had ended. */
async function follow(
  listed: readonly ListedFolder[] | undefined,
  watched: Map<string, Watched>,
  beginOne: (one: ListedFolder) => Watched,
): Promise<void> {
  if (listed === undefined) return;
  const entries = new Map(listed.map((one) => [one.folder, one]));
  for (const [folder, one] of watched) {
    const next = entries.get(folder);
    if (next !== undefined && JSON.stringify(next) === one.entry && !one.hasEnded()) continue;
    one.end();
    await one.ended;
    watched.delete(folder);
  }
  for (const [folder, one] of entries) if (!watched.has(folder)) watched.set(folder, beginOne(one));
}

function begin(one: ListedFolder, options: AllOptions, onEnd: () => void): Watched {
  const own = new AbortController();
  let isOver = false;
  const ended = watchListed(one, { ...options, signal: AbortSignal.any([options.signal, own.signal]) }).then((code) => {
    isOver = true;
    onEnd();
    return code;
  });
  const end = () => {
    if (isOver) return;
    const voice = voiceOf(options.json, { prefix: prefixOf(one), folder: one.folder });
    voice.says('ended', 'its entry in the list changed or is gone; this watch of it ends');
    own.abort();
  };
  return { entry: JSON.stringify(one), end, ended, hasEnded: () => isOver };
}

const prefixOf = ({ folder }: ListedFolder) => `${shownLine(basename(folder))}: `;

async function watchListed(one: ListedFolder, options: AllOptions): Promise<number> {
  const { folder, vault, server, only, limit_upload: limitUpload, limit_download: limitDownload } = one;
  const prefix = prefixOf(one);
  try {
    return await watchOne(
      { folder, vault, server, only, limitUpload, limitDownload, makes: 'sync', create: options.create },
      { ...options, prefix },
    );
  } catch (error) {
    // A fault of the program ends this folder, and not the others.
    const why = error instanceof ClientError ? error.message : ((error as Error).stack ?? String(error));
    const again = `It is no longer synced. Once that is fixed: cairn sync add ${quoted(folder)}`;
    voiceOf(options.json, { prefix, folder }).warns('ended', `${stopped(why)} ${again}`);
    return 1;
  }
}

/** Calls `onChange` after each change of a file, also when it is replaced; at intervals where the system watches nothing. */
function watchFile(file: string, onChange: () => void): { readonly close: () => void } {
  try {
    const watcher = watch(dirname(file), (_, name) => {
      if (name === null || name === basename(file)) onChange();
    });
    watcher.on('error', () => undefined);
    return watcher;
  } catch {
    const timer = setInterval(onChange, limits.clientRescanMs);
    return { close: () => clearInterval(timer) };
  }
}
