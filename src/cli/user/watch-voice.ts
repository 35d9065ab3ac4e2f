/** How a watch speaks: to a person in sentences, to a program in lines of JSON and nothing else. */
import { jsonLine } from '../../client/shown.ts';
import type { SyncEvent } from '../../client/sync/replica.ts';
import { print, printError } from '../output.ts';
import { reportLines } from './sync-report.ts';

export interface WatchVoice {
  /** Something that is well, for a person; a program hears the name of the state. */
  readonly says: (state: string, sentence: string) => void;
  /** Something that is wrong, or waits for the user. */
  readonly warns: (state: string, sentence: string) => void;
  /** What a sync did. */
  readonly did: (events: readonly SyncEvent[]) => void;
}

/** `prefix`: before each sentence, since several folders share one output. `folder`: in each line of JSON. */
export function voiceOf(isJson: boolean, { prefix, folder }: { readonly prefix: string; readonly folder: string }) {
  return isJson ? jsonVoice(folder) : sentences(prefix);
}

function sentences(prefix: string): WatchVoice {
  return {
    says: (_, sentence) => print(`${prefix}${sentence}`),
    warns: (_, sentence) => printError(`cairn: ${prefix}${sentence}`),
    did(events) {
      for (const line of reportLines(events)) print(`${prefix}${line}`);
    },
  };
}

function jsonVoice(folder: string): WatchVoice {
  const state = (name: string, sentence: string) => print(jsonLine({ folder, state: name, sentence }));
  return {
    says: state,
    warns: state,
    did(events) {
      for (const event of events) print(jsonLine({ folder, ...event }));
    },
  };
}
