/** cairn activity: what changed lately, by whom. */
import { z } from 'zod';
import { shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { limits } from '../../../limits/service.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { readTime, TIME_FORMS } from '../../dates/when.ts';
import { aligned, printResult } from '../../output.ts';
import { given, readNumber, SERVER, toolsOf } from './tool-call.ts';

export const activityCommand: Command = {
  name: 'activity',
  summary: 'list what changed and by whom, the newest first, deletions too',
  options: [
    takes('since', 'TIME'),
    takes('until', 'TIME'),
    takes('by', 'NAME'),
    takes('limit', 'N'),
    takes('cursor', 'CURSOR'),
    SERVER,
  ],
  explains: {
    since: `from when on: ${TIME_FORMS}`,
    until: 'up to when',
    by: 'only what this key, device, app or browser did',
    limit: `how many to list at most; default ${limits.historyDefault}`,
    cursor: 'continue after an earlier list',
  },
  examples: ['cairn activity', 'cairn activity --since yesterday --by laptop', "cairn activity --since '2h ago'"],
  run: list,
};

const changesSchema = z.object({
  changes: z.array(
    z.object({
      at: z.string(),
      by: z.string().nullable(),
      act: z.string(),
      kind: z.string(),
      thing: z.string(),
      name: z.string(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  cursor: z.string().nullable(),
});

/** Times and the name of who did it, as the tools take them. Throws UsageError for what is no time. */
export function spanOf(options: Options): Record<string, string> {
  const nowMs = Date.now();
  const time = (name: string) => {
    const text = options.optional(name);
    return given(name, text === undefined ? undefined : new Date(readTime(text, nowMs)).toISOString());
  };
  return { ...time('since'), ...time('until'), ...given('by', options.optional('by')) };
}

async function list(options: Options): Promise<number> {
  const answer = await toolsOf(options).call('history', {
    ...spanOf(options),
    ...given('limit', readNumber('limit', options.optional('limit'))),
    ...given('cursor', options.optional('cursor')),
  });
  const { changes, cursor } = readAs(changesSchema, answer.structured);
  return printResult(options, { changes, cursor }, () =>
    changes.length === 0
      ? answer.text
      : [
          ...aligned(
            changes.map(({ at, by, act, kind, name, thing, details }) => [
              at.slice(0, 16).replace('T', ' '),
              shownLine(by ?? 'unknown'),
              `${act} ${kind}`,
              shownLine(typeof details['path'] === 'string' ? details['path'] : name),
              thing,
            ]),
          ).map((cells) => cells.join('  ').trimEnd()),
          ...(cursor === null ? [] : [`There may be earlier ones: continue with --cursor ${cursor}`]),
        ].join('\n'),
  );
}
