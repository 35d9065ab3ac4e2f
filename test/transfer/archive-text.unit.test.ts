/** The description of an archive names every member that an import accepts. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { instantUpTo } from '../../src/archive/records.ts';
import { blobRecord } from '../../src/mirror/portable.ts';
import { vaultRecordSchema } from '../../src/sync/portable/records.ts';
import { taskRecord } from '../../src/tasks/portable.ts';

const text = readFileSync(new URL('../../src/archive/ARCHIVE.md', import.meta.url), 'utf8');

const never = Number.POSITIVE_INFINITY;
const sections: [section: string, kinds: readonly z.ZodObject[]][] = [
  ['tasks', taskRecord(instantUpTo(never)).options],
  ['mirror', blobRecord(instantUpTo(never)).options],
  ['vaults', vaultRecordSchema(never).options],
];

test.each(sections)('[OPS-13] %s.ndjson', (section, kinds) => {
  const [, described = ''] = text.split(`## \`${section}.ndjson\`\n`);
  const [own = ''] = described.split('\n## ');
  const members = kinds.flatMap(({ shape }) => Object.keys(shape));
  expect(members.filter((name) => !own.includes(`\`${name}\``))).toEqual([]);
});
