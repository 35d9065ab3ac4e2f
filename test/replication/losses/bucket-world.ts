/** Members on this machine whose log is in a bucket of Ceph RGW, behind a relay that treats requests badly. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Hub } from '../../support/hub.ts';
import { LEASE_SECONDS, startMember } from '../../support/members.ts';
import { type Rgw, rgwAt } from '../../support/rgw.ts';
import { type Mischief, type RoughBucket, startRoughBucket } from '../../support/rough-bucket.ts';
import { Clocks, type Loss, type MemberWorld, PAST_THE_LEASE_MS, PROCESS_LOSSES } from './world.ts';

const ANY: readonly Mischief[] = ['none', 'before', 'after', 'half', 'late', 'twice', 'busy', 'mute'];
/** Of the requests while the log is bad. */
const BAD_SHARE = 0.3;

export class BucketWorld implements MemberWorld {
  readonly log = `s3://logs/losses/${randomBytes(6).toString('hex')}`;
  readonly environment: Readonly<Record<string, string>>;
  readonly losses: ReadonlyMap<string, Loss>;
  readonly #rough: RoughBucket;
  readonly #clocks = new Clocks();

  private constructor(rgw: Rgw, rough: RoughBucket, random: () => number) {
    this.environment = rgw.env;
    this.#rough = rough;
    const badly =
      (mischief: (method: string) => Mischief): Loss =>
      () =>
        this.#treatBadly(mischief);
    this.losses = new Map<string, Loss>([
      ...PROCESS_LOSSES,
      ['the log does not answer', badly(() => 'mute')],
      ['the log cannot be reached', badly(() => 'before')],
      ['the log is too busy', badly(() => 'busy')],
      ['the log answers late', badly(() => 'late')],
      [
        'the log answers later than a lease',
        async () => {
          const { lateMs } = rough;
          rough.lateMs = LEASE_SECONDS * 1300;
          await this.#treatBadly(() => 'late');
          rough.lateMs = lateMs;
        },
      ],
      ['the log does twice what it is told', badly((method) => (method === 'PUT' ? 'twice' : 'none'))],
      ['the log answers badly', badly(() => ANY[Math.floor((random() / BAD_SHARE) * ANY.length)] ?? 'none')],
      ...this.#clocks.losses(),
    ]);
  }

  static async open(rgw: Rgw, random: () => number): Promise<BucketWorld> {
    return new BucketWorld(rgw, await startRoughBucket(rgw.endpoint), random);
  }

  async start(name: string, dataFolder: string | undefined): Promise<Hub> {
    const clock = this.#clocks.of(name);
    const { env } = rgwAt(this.#rough.endpoint);
    const before = dataFolder === undefined ? {} : { dataFolder };
    return await startMember({ name, log: this.log, env, ...before, ...(clock && { clock }) });
  }

  async close(): Promise<void> {
    this.#rough.close();
  }

  async #treatBadly(mischief: (method: string) => Mischief): Promise<void> {
    this.#rough.mischief = mischief;
    await sleep(PAST_THE_LEASE_MS * 2);
    this.#rough.mischief = () => 'none';
    this.#rough.cutAll();
  }
}
