/** A hub for histories, with a quota that they can reach, which they may restart. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { callTool } from '../../support/gateway.ts';
import { startHub } from '../../support/hub.ts';
import { QUOTA_BYTES } from './hub-model.ts';
import { type HubHolder, Tally } from './stage.ts';

const BUSY = -32007;
const BUSY_MS = 1000;
const env = { CAIRN_SYNC_QUOTA_BYTES: String(QUOTA_BYTES) };

export async function openHolder(): Promise<HubHolder> {
  const holder: HubHolder = {
    tally: new Tally(),
    hub: await startHub({ env }),
    async call(tool, args, key) {
      for (;;) {
        const reply = await callTool(holder.hub, tool, args, key);
        // Turned away at the door, before anything was looked at: a machine with more work than it can do.
        if (reply.error?.code !== BUSY || reply.id !== null) return reply;
        holder.tally.add('turned away: too busy');
        await sleep(BUSY_MS);
      }
    },
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
