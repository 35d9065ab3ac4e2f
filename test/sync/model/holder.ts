/** A hub for histories, with a quota that they can reach, which they may restart. */
import assert from 'node:assert/strict';
import { startHub } from '../../support/hub.ts';
import { QUOTA_BYTES } from './hub-model.ts';
import { type HubHolder, Tally } from './stage.ts';

const env = { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) };

export async function openHolder(): Promise<HubHolder> {
  const holder: HubHolder = {
    tally: new Tally(),
    hub: await startHub({ env }),
    async restart(how) {
      holder.tally.add(`restart by ${how}`);
      const { dataFolder } = holder.hub;
      if (how === 'kill') await holder.hub.kill();
      else assert.equal(await holder.hub.stop(), 0);
      holder.hub = await startHub({ env, dataFolder });
    },
  };
  return holder;
}
