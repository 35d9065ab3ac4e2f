/** How much memory does the hub use while 32 uploads of 50 MiB arrive at once? */
import { limits } from '../src/limits/service.ts';
import { checkStatuses, prepareClient } from './client.ts';
import { type Memory, memoryOf, peakMemory } from './memory.ts';
import { startCairn } from './peers/cairn.ts';
import { type Bench, MiB, note, type Row, runWhenStarted } from './report.ts';

const UPLOADS = 32;
/** Allowed memory on top of the in-flight budget. */
const ROOM_BYTES = 150 * MiB;

export const uploadMemory: Bench = async () => {
  const cairn = await startCairn();
  try {
    const credential = await cairn.account();
    const job = {
      port: cairn.port,
      credential,
      connections: UPLOADS,
      requestsPerConnection: 1,
      bodyBytes: limits.uploadBytesMax,
    };
    const client = await prepareClient(job);
    const idle = memoryOf(cairn.pid);
    const { result, peak } = await peakMemory([cairn.pid], () => client.run());
    checkStatuses(job, result);
    const rate = (UPLOADS * limits.uploadBytesMax * 1000) / MiB / result.ms;
    note(`32 uploads of 50 MiB at once: all answered 200, ${rate.toFixed(0)} MiB/s`);
    return [row('RssAnon', idle, peak, true), row('VmRSS', idle, peak, false), row('RssFile', idle, peak, false)];
  } finally {
    await cairn.stop();
  }
};

function row(field: keyof Memory, idle: Memory, peak: Memory, bound: boolean): Row {
  const bytesMax = limits.inflightBytesDefault + ROOM_BYTES;
  return {
    question: `32 uploads of 50 MiB at once: peak ${field}`,
    cairn: `${(peak[field] / MiB).toFixed(0)} MiB (idle ${(idle[field] / MiB).toFixed(0)})`,
    yardstick: bound ? `in-flight budget ${limits.inflightBytesDefault / MiB} MiB + ${ROOM_BYTES / MiB} MiB` : '',
    ratio: bound ? (peak[field] / bytesMax).toFixed(2) : '',
    target: bound ? `≤ ${bytesMax / MiB} MiB` : '',
    reached: bound ? peak[field] <= bytesMax : undefined,
  };
}

await runWhenStarted(import.meta.url, uploadMemory);
