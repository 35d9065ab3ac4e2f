/** Exports an account in a separate thread, so that this one answers requests and signals meanwhile. */
import { Worker } from 'node:worker_threads';
import { StartError } from '../../common/start-error.ts';
import type { ExportJob, ExportMessage, MadeFiles } from './export-thread.ts';

/** Resolves when the export is written. `onBytes` receives the number of bytes so far. Rejects with StartError, for a person. */
export function exportInThread(job: ExportJob, onBytes: (bytes: number) => void): Promise<MadeFiles> {
  const worker = new Worker(new URL('./export-thread.js', import.meta.url), { workerData: job, name: 'export' });
  return new Promise((resolve, reject) => {
    worker.on('message', (message: ExportMessage) => {
      if ('bytes' in message) onBytes(message.bytes);
      else if ('made' in message) resolve(message.made);
      else reject(new StartError(message.reason));
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread of an export ended')));
  });
}
