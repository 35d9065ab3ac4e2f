/** cairn vault: lists, creates, renames and deletes the vaults of an account. */
import { ClientError } from '../../../client/client-error.ts';
import { formatBytes } from '../../../client/progress.ts';
import { quoted, shownLine, shownTime } from '../../../client/shown.ts';
import { countWithNoun } from '../../../text/count.ts';
import { type Command, type Options, takes } from '../../command.ts';
import { printResult } from '../../output.ts';
import { askPerson } from '../../secret-input.ts';
import { openTools } from '../tool-access.ts';
import { type ListedVault, listVaults, vaultNamed } from './vaults.ts';

const SERVER = takes('server', 'URL');
const EXPLAINS = { server: 'address of the hub; default: CAIRN_SERVER, else the last sign-in' };

export const vaultCommands: readonly Command[] = [
  {
    name: 'vault list',
    summary: 'list the vaults of your account',
    options: [SERVER],
    explains: EXPLAINS,
    examples: ['cairn vault list'],
    run: list,
  },
  {
    name: 'vault create',
    summary: 'create a vault',
    operands: ['NAME'],
    options: [SERVER],
    explains: EXPLAINS,
    examples: ['cairn vault create notes'],
    run: create,
  },
  {
    name: 'vault rename',
    summary: 'rename a vault; its synced folders continue to sync',
    operands: ['NAME', 'NEW-NAME'],
    completes: { NAME: 'vault' },
    options: [SERVER],
    explains: EXPLAINS,
    examples: ['cairn vault rename notse notes'],
    run: rename,
  },
  {
    name: 'vault delete',
    summary: 'permanently delete a vault with all versions of its files',
    operands: ['NAME'],
    options: [takes('confirm', 'NAME'), SERVER],
    completes: { NAME: 'vault', confirm: 'vault' },
    explains: { ...EXPLAINS, confirm: 'the name of the vault again, instead of typing it when asked' },
    examples: ['cairn vault delete old-notes', 'cairn vault delete old-notes --confirm old-notes'],
    run: remove,
  },
];

async function list(options: Options): Promise<number> {
  const { tools } = openTools(options.optional('server'));
  const vaults = await listVaults(tools);
  const width = Math.max(...vaults.map(({ name }) => shownLine(name).length));
  const lines = vaults.map((vault) => vaultLine(vault, width));
  const none = 'no vaults yet; create one with `cairn vault create NAME`';
  return printResult(options, { vaults }, () => lines.join('\n') || none);
}

function vaultLine({ name, file_count: files, pending_conflicts: conflicts, ...vault }: ListedVault, width: number) {
  const facts = [
    `${countWithNoun(files, 'file')}, ${formatBytes(vault.total_size_bytes)}`,
    vault.last_synced_at === null ? 'never synced' : `last change ${shownTime(vault.last_synced_at)}`,
    ...(conflicts === 0 ? [] : [countWithNoun(conflicts, 'conflict')]),
    ...(vault.is_primary ? ['primary'] : []),
  ];
  return `${shownLine(name).padEnd(width)}  ${facts.join(', ')}`;
}

async function create(options: Options): Promise<number> {
  const { tools } = openTools(options.optional('server'));
  const { structured } = await tools.call('vault_create', { name: options.operand() });
  const name = String(structured['name']);
  return printResult(options, structured, () =>
    structured['status'] === 'created'
      ? `created ${shownLine(name)}; sync a folder with it: cairn sync --folder DIR --vault ${quoted(name)}`
      : `${shownLine(name)} exists already`,
  );
}

async function rename(options: Options): Promise<number> {
  const { tools } = openTools(options.optional('server'));
  const vault = await vaultNamed(tools, options.operand(0));
  const { structured } = await tools.call('vault_rename', { vault_id: vault.vault_id, name: options.operand(1) });
  const name = shownLine(String(structured['name']));
  return printResult(options, structured, () => `renamed ${shownLine(vault.name)} to ${name}`);
}

async function remove(options: Options): Promise<number> {
  const { tools } = openTools(options.optional('server'));
  const vault = await vaultNamed(tools, options.operand());
  const files = countWithNoun(vault.file_count, 'file');
  const question = `This permanently deletes ${shownLine(vault.name)} (${files}) with all versions.\nType the name of the vault to confirm: `;
  const confirm = options.optional('confirm') ?? (await askPerson(question));
  if (confirm !== vault.name) {
    throw new ClientError(
      `${vault.name} was not deleted: its name was not confirmed. Use --confirm ${quoted(vault.name)}.`,
    );
  }
  const { structured } = await tools.call('vault_delete', { vault_id: vault.vault_id, confirm });
  return printResult(options, structured, () => `deleted ${shownLine(vault.name)} and ${files} with all versions`);
}
