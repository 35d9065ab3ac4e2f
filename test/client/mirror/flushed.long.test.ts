/** What a command says is restored or exported survives a power failure: it is on the disk before it has its name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupMachine, testRepository } from '../../support/backup-machine.ts';
import { isComplete } from '../../support/disk-trace.ts';
import { runCairn } from '../../support/hub.ts';
import { account } from '../../support/mirror.ts';
import { until } from '../../support/mirror-state.ts';
import { canTrace, straceWrapper } from '../../support/strace.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub();
const RULES = ['trace=execve,fsync,fdatasync,rename,exit_group', 'decode-fds=path'];

test.runIf(canTrace).each([['repository'], ['files of one commit', '--tree']])(
  '[MIR-22] a restored %s is on the disk before it has its name',
  async (_kind, ...form) => {
    const machine = backupMachine(hub, await account(hub));
    await machine.cairn('init');
    const { folder } = testRepository(4096, 'kept');
    expect((await machine.cairnIn(folder, 'push', ...form)).code).toBe(0);
    const parent = temporaryFolder();
    const place = join(parent, 'restored');
    const trace = join(temporaryFolder(), 'trace');
    const args = ['backups', 'pull', '--repository', 'kept', '--output', place];
    expect(await runCairn(args, machine.env, '', straceWrapper(RULES, trace))).toMatchObject({ code: 0 });
    await until('the trace is complete', () => isComplete(trace) || undefined);
    const calls = readFileSync(trace, 'utf8').split('\n');
    const named = calls.findIndex((call) => call.includes(`, "${place}")`));
    expect(named).toBeGreaterThan(0);
    const flushedOf = (some: readonly string[]) =>
      new Set(some.flatMap((call) => /sync\(\d+<([^>]*)>/.exec(call)?.[1]?.replace(/^.*\/files(?=\/|$)/, '') ?? []));
    const flushed = flushedOf(calls.slice(0, named));
    const made = readdirSync(place, { recursive: true, withFileTypes: true }).map((entry) =>
      join(entry.parentPath, entry.name).slice(place.length),
    );
    expect(made.length).toBeGreaterThan(40);
    // strace writes other characters as their bytes.
    const isPlain = (path: string) => /^[ -~]*$/.test(path);
    expect(['', ...made].filter((path) => isPlain(path) && !flushed.has(path))).toEqual([]);
    expect(flushedOf(calls.slice(named))).toContain(parent);
  },
);
