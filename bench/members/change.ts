/** How long nobody serves when the owner of a log is killed or hands over, and what an idle pair asks of its bucket. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runCairn } from '../../test/support/hub.ts';
import { startRoughBucket } from '../../test/support/rough-bucket.ts';
import { type BenchOptions, note, type Row } from '../report.ts';
import { percentile } from '../steady.ts';
import { type LogSettings, type Stores, startMember, untilReady, untilState } from './stores.ts';

const LEASE_SECONDS = 3;

const figure = (question: string, cairn: string, yardstick: string): Row => {
  return { question, cairn, yardstick, ratio: '', target: '', reached: undefined };
};

/** From the end of the old owner to the first `/ready` of the other. */
async function outages(settings: LogSettings, rounds: number): Promise<{ kills: number[]; hands: number[] }> {
  const leased = { ...settings, CAIRN_LEASE_SECONDS: String(LEASE_SECONDS) };
  let owner = await startMember('west', leased);
  await untilReady(owner.cairn);
  let other = await startMember('east', leased);
  const [kills, hands]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await untilState(other, 'following');
    owner.cairn.process.kill('SIGKILL');
    kills.push(await untilReady(other.cairn));
    [owner, other] = [other, await startMember(owner.name, leased, owner.data)];
    await untilState(other, 'following');
    const startMs = performance.now();
    const told = await runCairn(['member', 'hand-over', '--to', other.name], { CAIRN_DATA: owner.data });
    if (told.code !== 0) throw new Error(told.stderr);
    const commandMs = performance.now() - startMs;
    hands.push(await untilReady(other.cairn));
    [owner, other] = [other, owner];
    note(
      `takeover ${kills.at(-1)?.toFixed(0)} ms, hand-over ${hands.at(-1)?.toFixed(0)} ms after its command of ${commandMs.toFixed(0)} ms`,
    );
  }
  await owner.cairn.stop();
  await other.cairn.stop();
  return { kills, hands };
}

const spread = (times: readonly number[]) => {
  const rising = times.toSorted((a, b) => a - b);
  return `p50 ${(percentile(rising, 0.5) / 1000).toFixed(1)} s, p99 ${(percentile(rising, 0.99) / 1000).toFixed(1)} s of ${times.length}`;
};

/** Requests of an idle owner and one follower to their bucket, an hour, by method. */
async function idleRequests(bucket: (endpoint: string) => LogSettings, endpoint: string, seconds: number) {
  // It keeps the host that the signature names.
  const relay = await startRoughBucket(endpoint);
  const requests: string[] = [];
  relay.mischief = (method) => {
    requests.push(method);
    return 'none';
  };
  const settings = bucket(relay.endpoint);
  const owner = await startMember('west', settings);
  await untilReady(owner.cairn);
  const counted = async () => {
    await sleep(10_000);
    const before = requests.length;
    await sleep(seconds * 1000);
    const sent = requests.slice(before);
    const hourly = (method: string) => Math.round((sent.filter((one) => one === method).length * 3600) / seconds);
    return { PUT: hourly('PUT'), GET: hourly('GET') };
  };
  const alone = await counted();
  const follower = await startMember('east', settings);
  await untilState(follower, 'following');
  const both = await counted();
  await follower.cairn.stop();
  await owner.cairn.stop();
  relay.close();
  return { alone, both };
}

/** How long nobody serves when the owner is killed, or hands over. */
export async function outageRows(stores: Stores, { quick }: BenchOptions): Promise<Row[]> {
  const { kills, hands } = await outages(stores.bucket(), quick ? 2 : 10);
  const silence = `1.2 leases of ${LEASE_SECONDS} s are ${(1.2 * LEASE_SECONDS).toFixed(1)} s`;
  return [
    figure('nobody serves after kill -9 of the owner, bucket', spread(kills), silence),
    figure('nobody serves after the command of a hand-over, bucket', spread(hands), ''),
  ];
}

/** What an idle hub asks of its bucket. */
export async function idleRows(stores: Stores, { quick }: BenchOptions): Promise<Row[]> {
  const { alone, both } = await idleRequests(stores.bucket, stores.endpoint, quick ? 20 : 30);
  const hour = ({ PUT, GET }: typeof alone) => `${PUT} PUT and ${GET} GET`;
  return [
    figure('requests of an idle hub an hour, lease of 10 s', hour(alone), ''),
    figure('the same with one follower', hour(both), ''),
  ];
}
