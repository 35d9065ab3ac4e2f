/** The limits of a restore, from the options of a command. */
import { RestoreBudget } from '../../../client/mirror/open-archive.ts';
import { formatBytes, openStatusLine } from '../../../client/progress.ts';
import { limits } from '../../../limits/service.ts';
import { countWithNoun } from '../../../text/count.ts';
import type { Options } from '../../command.ts';
import { UsageError } from '../../usage-error.ts';

/** The limits of a restore, with a line that shows how far it is. */
export function budgetOf(options: Options): { readonly budget: RestoreBudget; readonly line: { close(): void } } {
  const size = options.optional('max-size');
  const [, digits = '', unit = ''] = /^(\d{1,7})([KMGT]?)$/i.exec(size ?? '0') ?? [];
  if (digits === '') throw new UsageError('--max-size must be a number of bytes, or one with K, M, G or T, like 40G');
  const bytesMax =
    size === undefined ? limits.restoredBytesMax : Number(digits) * 1024 ** ' KMGT'.indexOf(unit.toUpperCase() || ' ');
  const line = openStatusLine();
  const progress = (bytes: number, files: number) =>
    line.show(() => `restoring  ${formatBytes(bytes)}${files === 0 ? '' : `, ${countWithNoun(files, 'file')}`}`);
  return { budget: new RestoreBudget(bytesMax, options.count('max-files') ?? limits.restoredFilesMax, progress), line };
}
