/** Caches pages of tasks requested again while no task has changed, mostly by polling apps. */

import { KnownAnswers, type KnownAnswersOptions } from '../../cache/answers.ts';
import type { Parts } from '../../http/reply/body.ts';
import { limits } from '../../limits/service.ts';
import { taskTables } from '../records.ts';

/** Each page as JSON in UTF-8. */
export type KnownPages = KnownAnswers<Uint8Array>;

export function openKnownPages(over: Pick<KnownAnswersOptions<Uint8Array>, 'revision' | 'now'>): KnownPages {
  return new KnownAnswers({ ...over, bytesOf: (page) => page.length, bytesMax: limits.pagesRememberedBytesMax });
}

/** Returns the page of an account and query: cached, or made by `make`, which may read the tables of tasks only. */
export function knownPage(pages: KnownPages, accountId: string, search: string, make: () => string): Parts {
  const place = search.length > limits.questionCharsMax ? undefined : pages.place(taskTables, accountId, search);
  const known = place && pages.find(place);
  if (known !== undefined) return [known];
  const made = make();
  if (place !== undefined) pages.keep(place, () => Buffer.from(made));
  return [made];
}
