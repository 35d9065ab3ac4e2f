/** What one history acts on: the stage, the devices, what is still on its way, and readers that follow the log. */
import { randomUUID } from 'node:crypto';
import { PASSWORD, structuredOf } from '../../support/gateway.ts';
import { SimulatedDevice } from './device.ts';
import { fold, type Push } from './hub-model.ts';
import { BEGINNING, type Page, type Place, type Pulled, pullPage } from './reads.ts';
import { type HubHolder, Stage } from './stage.ts';

/** Follows the log from the beginning, and has seen each file as it is. */
class Follower {
  place: Place = BEGINNING;
  since = '1970-01-01T00:00:00.000Z';
  readonly seen = new Map<string, number>();

  take({ records, next }: Pick<Page, 'records' | 'next'>): void {
    this.place = next;
    this.see(records);
  }

  see(records: readonly Pulled[]): void {
    for (const { path, seq, stored_at } of records) {
      this.seen.set(fold(path), seq);
      if (stored_at > this.since) this.since = stored_at;
    }
  }
}

export class World {
  readonly stage: Stage;
  readonly devices: readonly SimulatedDevice[];
  /** Sent and not yet there; they may come in any order, or late. */
  readonly held: Push[] = [];
  readonly byCursor = new Follower();
  readonly bySince = new Follower();
  /** So that no two edits are alike by accident. */
  edits = 0;

  constructor(stage: Stage, devices: readonly SimulatedDevice[]) {
    this.stage = stage;
    this.devices = devices;
  }

  device(at: number): SimulatedDevice {
    const device = this.devices[at % this.devices.length];
    if (device === undefined) throw new Error('a history needs devices');
    return device;
  }
}

/** A new vault of a new account. */
export async function newStage(holder: HubHolder): Promise<Stage> {
  const who = { email: `${randomUUID()}@example.test`, password: PASSWORD };
  const { mcp_key: key } = structuredOf<{ mcp_key: string }>(await holder.call('signup_and_get_key', who));
  const made = await holder.call('vault_create', { name: 'history' }, key);
  const { vault_id: vaultId } = structuredOf<{ vault_id: string }>(made);
  return new Stage(holder, key, vaultId);
}

/** A new vault, and devices with clocks that are off by so much. */
export async function newWorld(holder: HubHolder, skewsMs: readonly number[]): Promise<World> {
  const devices = skewsMs.map((skewMs, at) => new SimulatedDevice(at, skewMs));
  const stage = await newStage(holder);
  // Each knows from the start where it stands, so that it is told of every delete.
  for (const device of devices) device.apply(await pullPage(stage, BEGINNING));
  return new World(stage, devices);
}
