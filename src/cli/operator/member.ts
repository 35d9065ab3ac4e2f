/** cairn member: the members that share the log of this hub, and the planned change from one to another. */

import { saidOfTrouble } from '../../common/fault.ts';
import type { MemberReport } from '../../http/route/health.ts';
import { countWithNoun } from '../../text/count.ts';
import { type Command, type Options, takes } from '../command.ts';
import { printResult, table } from '../output.ts';
import { control } from './control.ts';
import { operatorConfig } from './settings.ts';

export const memberCommands: readonly Command[] = [
  {
    name: 'member list',
    summary: 'show which member serves, the state of this one, and the names of all',
    examples: ['cairn member list'],
    run: list,
  },
  {
    name: 'member hand-over',
    summary: 'let another member serve, without a write lost; run it on the one that serves',
    options: [takes('to', 'NAME')],
    explains: { to: 'the member that is to serve; default: the first that is ready' },
    examples: ['cairn member hand-over', 'cairn member hand-over --to east'],
    run: handOver,
  },
  {
    name: 'member snapshot',
    summary: 'make a snapshot of the log now, from which new members join; run it on the one that serves',
    examples: ['cairn member snapshot'],
    run: snapshot,
  },
  {
    name: 'member why',
    summary: 'say why this member serves, or why it does not',
    examples: ['cairn member why'],
    run: why,
  },
  {
    name: 'member forget',
    summary: 'forget a member whose machine was removed, so that it is no longer reported as away',
    operands: ['NAME'],
    examples: ['cairn member forget north'],
    run: forget,
  },
  {
    name: 'member leave',
    summary: 'make the data folder of a stopped member a hub of its own, without its log',
    examples: ['cairn member leave'],
    run: leaveLog,
  },
];

async function list(options: Options): Promise<number> {
  const report = await control({ command: 'member.report' });
  return printResult(options, { ...report }, () => {
    const others = report.members.map((name) => [name, toldOf(report, name)] as const);
    const names = others.length === 0 ? NAMES_UNKNOWN : table(others);
    return `${table(rowsOf(report))}\n\n${names}`;
  });
}

function toldOf({ owner, set_aside_by: aside, troubles }: MemberReport, name: string): string {
  const files = aside[name] ?? 0;
  const told = [
    ...(name === owner ? ['serves'] : []),
    ...(troubles[name] === undefined ? [] : [saidOfTrouble(troubles[name])]),
    ...(files === 0 ? [] : [`${countWithNoun(files, 'file')} set aside`]),
  ];
  return told.join(', ');
}

/** A member that does not reach the log knows only who served before. */
const servingOf = ({ state, owner }: MemberReport): string =>
  state === 'apart' ? `unknown here${owner === null ? '' : `; last known: ${owner}`}` : (owner ?? 'nobody');

const NAMES_UNKNOWN =
  'The log did not answer. Check its store, and the network and the clock of this machine; `cairn member list` on another machine says what that one knows.';

const rowsOf = (report: MemberReport) => {
  const { name, state, position, behind, unlogged_ms: lag, set_aside: files } = report;
  return [
    ['this member', name],
    ['state', state],
    ['record', behind === 0 ? String(position) : `${position}, ${behind} behind`],
    ['serves', servingOf(report)],
    ...(lag === 0 ? [] : [['not in the log', `answered writes of the last ${(lag / 1000).toFixed(1)} s`] as const]),
    ...(files === 0 ? [] : [['set aside', `${countWithNoun(files, 'file')} in set-aside of the data folder`] as const]),
  ] as const;
};

async function handOver(options: Options): Promise<number> {
  const to = options.optional('to');
  const done = await control({ command: 'member.hand_over', ...(to === undefined ? {} : { to }) });
  return printResult(options, done, () => `handing over to ${done.handed_over}`);
}

async function snapshot(options: Options): Promise<number> {
  const done = await control({ command: 'member.snapshot' });
  return printResult(options, done, () => `made a snapshot of record ${done.position}`);
}

async function forget(options: Options): Promise<number> {
  const done = await control({ command: 'member.forget', name: options.operand() ?? '' });
  return printResult(options, done, () => `forgot ${done.forgotten}. If it still runs, it is back within a minute.`);
}

async function why(options: Options): Promise<number> {
  const report = await control({ command: 'member.report' });
  return printResult(options, { ...report }, () =>
    report.why === report.message ? report.why : `${report.message}: ${report.why}`,
  );
}

async function leaveLog(options: Options): Promise<number> {
  const { leave } = await import('../../ops/member/leave.ts');
  const left = await leave(operatorConfig());
  const next = left.forgotten === undefined ? LEFT_UNTOLD : ` The others have forgotten ${left.forgotten}.`;
  return printResult(
    options,
    left,
    () =>
      `this data folder is a hub of its own, with all records up to ${left.position}. Unset CAIRN_LOG to start it.${next}`,
  );
}

const LEFT_UNTOLD =
  ' Without CAIRN_LOG here, or while the log cannot be reached, the others are not told: run `cairn member forget NAME` on one of them.';
