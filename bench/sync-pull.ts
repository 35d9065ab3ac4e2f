/** How fast is the initial pull of a vault of 100,000 small files, against nginx serving the same bytes as a file? */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrk } from './loaders.ts';
import { requireTool } from './peers/child.ts';
import { startNginx } from './peers/nginx.ts';
import { pullVault, startVaultHub } from './peers/vault-hub.ts';
import { type Bench, MiB, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const FILES = 100_000;
const CLIENTS = [1, 64];

export const syncPull: Bench = async ({ quick }) => {
  requireTool('wrk', 'wrk');
  const nginx = await startNginx(1);
  const hub = await startVaultHub(FILES);
  try {
    const stream = await pullVault(hub);
    writeFileSync(join(nginx.root, 'vault.ndjson'), stream);
    note(`the stream has ${(stream.length / MiB).toFixed(1)} MiB`);
    const sides = {
      cairn: { url: hub.url, headers: hub.headers, body: hub.pull },
      nginx: { url: `${nginx.url}/vault.ndjson`, headers: hub.headers },
    };
    const rows: Row[] = [];
    for (const connections of CLIENTS) {
      const question = `initial pull of ${FILES} files, ${connections} clients`;
      const rates = { cairn: [] as number[], nginx: [] as number[] };
      for (let pair = 0; pair < (quick ? 2 : 5); pair += 1) {
        for (const side of pair % 2 === 0 ? (['cairn', 'nginx'] as const) : (['nginx', 'cairn'] as const)) {
          rates[side].push((await wrk({ ...sides[side], connections, seconds: quick ? 3 : 6 })) / MiB);
        }
        note(`${question}: cairn ${rates.cairn.at(-1)?.toFixed(0)}, nginx ${rates.nginx.at(-1)?.toFixed(0)} MiB/s`);
      }
      rows.push(
        pairedRow({
          question,
          yardstickName: 'nginx',
          cairn: rates.cairn,
          yardstick: rates.nginx,
          unit: 'MiB/s',
          target: 1,
        }),
      );
    }
    return rows;
  } finally {
    await hub.stop();
    await nginx.stop();
  }
};

await runWhenStarted(import.meta.url, syncPull);
