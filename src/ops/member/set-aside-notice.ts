/** Tells the operator at once that answered writes were set aside: a member that follows has no conditions that are watched. */
import { hostname } from 'node:os';
import type { Log } from '../../common/log.ts';
import type { Config } from '../../config.ts';
import { wordsOf } from '../conditions/changes.ts';
import { formatOf } from '../conditions/notice.ts';
import { Notifier } from '../conditions/notifier.ts';

export function tellSetAside({ notifyUrl: url, notifyFormat: format }: Config, log: Log): void {
  if (url === undefined) return;
  const words = wordsOf({ name: 'set_aside', isOver: false, sinceMs: Date.now() }, `Cairn on ${hostname()}`);
  new Notifier({ url, format: format ?? formatOf(url), log }).send({ ...words, isAllClear: false });
}
