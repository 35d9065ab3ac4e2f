/** cairn handoff: reads and writes notes for the next session from a terminal. */
import { jsonLine } from '../../../client/shown.ts';
import { type Command, type CommandOption, needs, type Options, takes } from '../../command.ts';
import { written } from '../../dates/due-date.ts';
import { earlierDay } from '../../dates/when.ts';
import { print, printContent } from '../../output.ts';
import { type KeptVersion, printVersions } from './kept-versions.ts';
import { readDocumentText } from './text-input.ts';
import { given, readNumber, runToolCommand, SERVER, toolsOf } from './tool-call.ts';

const WHEN: readonly CommandOption[] = [takes('date', 'DATE'), takes('time', 'HHMM')];
const REFERENCE = ['PROJECT', 'TOPIC'] as const;
const COMPLETES = { project: 'project', PROJECT: 'project', TOPIC: 'topic' } as const;
const KOREAN = {
  date: 'YYYY-MM-DD, today, yesterday or a weekday, in Korea Standard Time',
  time: 'in Korea Standard Time',
};

interface ReadHandoff {
  readonly handoff: {
    readonly project: string;
    readonly topic: string;
    readonly date: string;
    readonly time: string | null;
    readonly content: string;
  };
  readonly versions?: readonly KeptVersion[];
}

export const handoffCommands: readonly Command[] = [
  {
    name: 'handoff',
    summary: 'list handoffs: notes for the next session',
    options: [takes('project', 'NAME'), takes('limit', 'N'), takes('cursor', 'CURSOR'), SERVER],
    explains: { project: 'only handoffs of this project' },
    completes: COMPLETES,
    examples: ['cairn handoff', 'cairn handoff --project cairn'],
    run: (options) =>
      runToolCommand(options, 'handoff_list', {
        ...given('project', options.optional('project')),
        ...given('limit', readNumber('limit', options.optional('limit'))),
        ...given('cursor', options.optional('cursor')),
      }),
  },
  {
    name: 'handoff show',
    summary: 'print the latest handoff of a topic',
    operands: REFERENCE,
    options: [...WHEN, takes('version', 'N'), SERVER],
    explains: { ...KOREAN, version: 'a kept version instead of the current one' },
    completes: COMPLETES,
    examples: ['cairn handoff show cairn release', 'cairn handoff show cairn release --date 2026-11-21'],
    run: show,
  },
  {
    name: 'handoff save',
    summary: 'save a handoff from a file or standard input',
    operands: [...REFERENCE, '[FILE]'],
    options: [...WHEN, SERVER],
    explains: KOREAN,
    completes: COMPLETES,
    examples: ['cairn handoff save cairn release state.md', 'git status | cairn handoff save cairn release'],
    run: async (options) =>
      await runToolCommand(options, 'handoff_save', {
        ...referenceOf(options),
        content: await readDocumentText(options.operand(2)),
      }),
  },
  {
    name: 'handoff versions',
    summary: 'list the kept versions of a handoff',
    operands: REFERENCE,
    options: [...WHEN, SERVER],
    explains: KOREAN,
    completes: COMPLETES,
    examples: ['cairn handoff versions cairn release'],
    run: versions,
  },
  {
    name: 'handoff restore',
    summary: 'bring back an earlier text of a handoff',
    operands: REFERENCE,
    options: [needs('version', 'N'), ...WHEN, SERVER],
    explains: { ...KOREAN, version: 'the kept version; it becomes the newest' },
    completes: COMPLETES,
    examples: ['cairn handoff restore cairn release --version 1'],
    run: restore,
  },
];

function referenceOf(options: Options): Record<string, string> {
  return {
    project: options.operand(0) ?? '',
    topic: options.operand(1) ?? '',
    ...given('date', dateOf(options.optional('date'))),
    ...given('time', options.optional('time')),
  };
}

/** A day in words as YYYY-MM-DD; anything else is left for the hub. */
function dateOf(text: string | undefined): string | undefined {
  const day = text === undefined ? undefined : earlierDay(text.trim().toLowerCase(), koreanNow());
  return day === undefined ? text : written(day);
}

/** A local date with the day of Korea Standard Time (UTC+9). */
function koreanNow(): Date {
  const now = new Date(Date.now() + 9 * 3_600_000);
  return new Date(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
}

async function read(options: Options, more: Readonly<Record<string, unknown>>): Promise<ReadHandoff> {
  const { structured } = await toolsOf(options).call('handoff_get', { ...referenceOf(options), ...more });
  return structured as unknown as ReadHandoff;
}

/** Prints only the content, for piping. */
async function show(options: Options): Promise<number> {
  const found = await read(options, given('version', readNumber('version', options.optional('version'))));
  if (options.json) print(jsonLine(found));
  else printContent(found.handoff.content);
  return 0;
}

async function versions(options: Options): Promise<number> {
  const { versions: kept = [] } = await read(options, { include_versions: true });
  printVersions(options, kept);
  return 0;
}

/** Saves the text of a version again under the same name. */
async function restore(options: Options): Promise<number> {
  const { handoff } = await read(options, given('version', readNumber('version', options.required('version'))));
  const { project, topic, date, time, content } = handoff;
  return await runToolCommand(options, 'handoff_save', {
    project,
    topic,
    date,
    content,
    ...given('time', time ?? undefined),
  });
}
