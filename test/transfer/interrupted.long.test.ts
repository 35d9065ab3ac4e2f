/** An export that is interrupted anywhere leaves nothing that is not encrypted, or the next one removes it and says so. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 1024 * 1024;
let hub: Hub;
let email: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  hub = await startHub();
  const who = await mirrorAccount(hub);
  ({ email } = who);
  for (let blob = 0; blob < 48; blob += 1) {
    expect((await upload(hub, who, randomCommit(), randomBytes(MIB))).status).toBe(200);
  }
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => hub.kill());

const FORMS: readonly { readonly form: readonly string[] }[] = [{ form: [] }, { form: ['--plain'] }];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const exporting = (folder: string, form: readonly string[]) => ['export', '--email', email, ...form, folder];

/** Begins an export, and sends it a signal as soon as some contents are written. */
async function begin(folder: string, form: readonly string[], signal: NodeJS.Signals) {
  const parent = join(folder, '..');
  const env = cleanEnvironment({ CAIRN_DATA: hub.dataFolder });
  const child = spawn(process.execPath, [CAIRN, ...exporting(folder, form)], { env, stdio: 'ignore' });
  children.push(child);
  const closed = new Promise<unknown>((resolve) => child.once('close', (...ended) => resolve(ended)));
  await until(
    'contents are written',
    () => readdirSync(parent, { recursive: true }).some((name) => /[0-9a-f]{64}$/.test(String(name))) || undefined,
  );
  child.kill(signal);
  return { child, closed };
}

test.each(FORMS.flatMap(({ form }) => SIGNALS.map((signal) => ({ form, signal }))))(
  '[OPS-13] an export $form that ends by $signal leaves nothing',
  async ({ form, signal }) => {
    const parent = temporaryFolder();
    const { closed } = await begin(join(parent, 'you'), form, signal);
    expect(await closed).toEqual([null, signal]);
    expect(readdirSync(parent)).toEqual([]);
  },
);

test.each(FORMS)(
  '[OPS-13] what a killed export $form left is removed by the next one there, which says so',
  async ({ form }) => {
    const parent = temporaryFolder();
    const killed = await begin(join(parent, 'monday'), form, 'SIGKILL');
    await killed.closed;
    const [left = '', ...more] = readdirSync(parent);
    expect([left, more]).toEqual([expect.stringMatching(/^monday\.partial-/), []]);
    const running = await begin(join(parent, 'running'), form, 'SIGSTOP');
    // Of another program.
    mkdirSync(join(parent, 'photos.partial-a1b2c3d4'));
    writeFileSync(join(parent, 'photos.partial-a1b2c3d4', 'one.jpg'), '');
    utimesSync(join(parent, 'photos.partial-a1b2c3d4'), new Date(0), new Date(0));
    const next = await runCairn(exporting(join(parent, 'tuesday'), form), { CAIRN_DATA: hub.dataFolder });
    expect([next.code, next.stderr]).toEqual([
      0,
      `cairn: removed ${join(parent, left)}, which an interrupted command left; it was not encrypted.\n`,
    ]);
    running.child.kill('SIGCONT');
    expect(await running.closed).toEqual([0, null]);
    expect(readdirSync(parent).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'photos.partial-a1b2c3d4',
      'running',
      'tuesday',
    ]);
  },
);
