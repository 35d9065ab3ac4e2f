/** cairn rekey: replaces the master key of a stopped hub. */
import type { Command, Options } from '../../command.ts';
import { print } from '../../output.ts';
import { readSecret } from '../../secret-input.ts';
import { UsageError } from '../../usage-error.ts';
import { operatorConfig } from '../settings.ts';

export const rekeyCommand: Command = {
  name: 'rekey',
  summary: 'change the master key while the service is stopped; keys, tokens and sign-ins stay valid',
  flags: ['key-stdin'],
  explains: {
    'key-stdin': 'read the new key, 64 hex characters, from standard input; default: a random key',
  },
  examples: ['cairn rekey', 'cairn rekey --key-stdin < new.key'],
  run,
};

async function run(options: Options): Promise<number> {
  const { rekey } = await import('../../../ops/compact/rekey.ts');
  const config = operatorConfig();
  const given = options.flag('key-stdin') ? await readKey() : undefined;
  const { credentials, compacted } = await rekey(config, given);
  if (options.json) print(JSON.stringify({ credentials, compacted }));
  else {
    print(`changed; ${credentials} mirror credentials are sealed under the new key`);
    print(
      config.masterKey === undefined
        ? 'The new key is in master.key. Backups made before need the old one.'
        : 'Set CAIRN_MASTER_KEY to the new key before you start the service. Backups made before need the old one.',
    );
    if (!compacted) print('Free pages of the data file still hold fields under the old key: run `cairn compact`.');
  }
  return 0;
}

async function readKey(): Promise<Uint8Array> {
  const text = (await readSecret('new master key')).trim();
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new UsageError('the new master key must be 64 hex characters');
  return Buffer.from(text, 'hex');
}
