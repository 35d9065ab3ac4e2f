/** Any sequence of calls, restarts and kills: every answer is the one that a model in memory gives. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hub, startHub } from '../support/hub.ts';
import { account, randomCommit } from '../support/mirror.ts';
import {
  destroyAsModelled,
  downloadAsModelled,
  issueAsModelled,
  latestAsModelled,
  listAsModelled,
  type MirrorModel,
  type MirrorReal,
  uploadAsModelled,
} from '../support/mirror-model.ts';
import { verified } from '../support/mirror-state.ts';
import { seed } from '../support/seed.ts';

const RUNS = 25;
const COMMANDS_MAX = 25;
/** Few of each, so that the same commit and the same bytes come back often. */
const commits = [randomCommit(), randomCommit(), randomCommit()];
const bodies = [10, 65_536, 65_537, 1_048_577].map((size) => randomBytes(size));

let hub: Hub;
beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub.stop());

async function restart(how: 'stop' | 'kill'): Promise<void> {
  if (how === 'kill') await hub.kill();
  else expect(await hub.stop()).toBe(0);
  hub = await startHub({ dataFolder: hub.dataFolder });
}

class Step implements fc.AsyncCommand<MirrorModel, MirrorReal> {
  readonly #name: string;
  readonly #run: (model: MirrorModel, real: MirrorReal) => Promise<void>;

  constructor(name: string, run: (model: MirrorModel, real: MirrorReal) => Promise<void>) {
    this.#name = name;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  run(model: MirrorModel, real: MirrorReal): Promise<void> {
    return this.#run(model, real);
  }

  toString(): string {
    return this.#name;
  }
}

const commitAt = fc.nat({ max: commits.length - 1 });
const bodyAt = fc.nat({ max: bodies.length - 1 });
const none = Buffer.alloc(0);

function uploads(flaw: 'none' | 'digest' | 'signature') {
  const label = fc.option(fc.constantFrom('ci', 'a laptop'), { nil: undefined });
  return fc.tuple(commitAt, bodyAt, label).map(
    ([commit, body, by]) =>
      new Step(`upload(${commit}, ${body}, ${by}, ${flaw})`, (model, real) =>
        uploadAsModelled(model, real, {
          commit: commits[commit] ?? '',
          bytes: bodies[body] ?? none,
          label: by,
          flaw,
        }),
      ),
  );
}

const issue = fc.constant(new Step('issue', (model, real) => issueAsModelled(model, real, false)));
const latest = fc.constant(new Step('latest', latestAsModelled));
const list = fc
  .option(fc.integer({ min: 1, max: 4 }), { nil: undefined })
  .map((limit) => new Step(`list(${limit})`, (model, real) => listAsModelled(model, real, limit)));
const download = fc
  .tuple(commitAt, fc.option(bodyAt, { nil: undefined }))
  .map(
    ([commit, body]) =>
      new Step(`download(${commit}, ${body})`, (model, real) =>
        downloadAsModelled(model, real, commits[commit] ?? '', body === undefined ? undefined : bodies[body]),
      ),
  );

const steps = [
  issue,
  fc.constant(new Step('rotate', (model, real) => issueAsModelled(model, real, true))),
  fc.constant(new Step('destroy', destroyAsModelled)),
  // More uploads and downloads than anything else: they are what the rest acts on.
  uploads('none'),
  uploads('none'),
  uploads('none'),
  uploads('none'),
  uploads('digest'),
  uploads('signature'),
  list,
  list,
  latest,
  latest,
  download,
  download,
  download,
  fc.constantFrom('stop' as const, 'kill' as const).map((how) => new Step(how, (_model, real) => real.restart(how))),
];

test(`[MIR-10, MIR-11, MIR-14, OPS-2] every answer is the one of the model (FC_SEED=${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: COMMANDS_MAX, size: 'max' }), async (commands) => {
      const owner = await account(hub);
      const real: MirrorReal = {
        get hub() {
          return hub;
        },
        account: owner,
        credential: { token: '', hmac_secret: '' },
        restart,
      };
      const model: MirrorModel = { blobs: [], hasCredential: false, generation: 0 };
      // Most of what can be asked needs a credential, so every run begins with one.
      await issueAsModelled(model, real, false);
      await fc.asyncModelRun(() => ({ model, real }), commands);
      await listAsModelled(model, real, undefined);
      for (const commit of commits) await downloadAsModelled(model, real, commit, undefined);
    }),
    { seed, numRuns: RUNS },
  );
  expect(await verified(hub)).toMatchObject({ code: 0, ok: true, staged_uploads: 0, problems: [] });
}, 240_000);
