/** cairn stats: shows the space used in the data file by table, with or without a running service. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { jsonLine } from '../../client/shown.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import type { Command, Options } from '../command.ts';
import { print, table } from '../output.ts';
import { openForReading } from './read-only.ts';
import { operatorConfig } from './settings.ts';

export const statsCommand: Command = {
  name: 'stats',
  summary: 'show how full the data file is, table by table, also while the service runs',
  examples: ['cairn stats'],
  run: stats,
};

async function stats(options: Options): Promise<number> {
  const config = operatorConfig();
  const { dataFolder } = config;
  const { epochOf } = await import('../../store/meta/epoch.ts');
  const store = await openForReading(config);
  try {
    const { pageBytes, pages, pagesFree, tables } = store.stats();
    const report = {
      epoch: epochOf(store) ?? null,
      file_bytes: statSync(join(dataFolder, DATA_FILE)).size,
      page_bytes: pageBytes,
      pages,
      free_pages: pagesFree,
      free_bytes: pagesFree * pageBytes,
      tables,
    };
    if (options.json) print(jsonLine(report));
    else printReport(report);
    return 0;
  } finally {
    await store.close();
  }
}

function printReport({ tables, ...figures }: Record<string, unknown> & { tables: readonly TableRow[] }): void {
  print(table(Object.entries(figures).map(([name, value]) => [name.replaceAll('_', ' '), String(value)])));
  print('');
  const columns = ({ name, rows, bytes }: TableRow): [string, string] => [
    name,
    `${rows} rows`.padEnd(16).concat(`${bytes} bytes`),
  ];
  print(table(tables.map(columns)));
}

interface TableRow {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}
