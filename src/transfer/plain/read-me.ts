/** The text that explains an export to whoever opens it. Pure. */
import type { ArchiveManifest } from '../../archive/format.ts';

/** `leftOut`: what is not there although the account has it, one sentence each. */
export function readMe(
  { account, made_at }: Pick<ArchiveManifest, 'account' | 'made_at'>,
  leftOut: readonly string[],
): string {
  const missing =
    leftOut.length === 0 ? '' : `\n## Not in this folder\n\n${leftOut.map((one) => `- ${one}\n`).join('')}`;
  return `# The data of ${account.email}

Exported from Cairn on ${made_at}. No program is needed to read it.

| Here | What it is |
|---|---|
| \`tasks.csv\` | your tasks, for a spreadsheet. A text that a spreadsheet would calculate has an apostrophe in front |
| \`tasks.ics\` | the same tasks as to-dos, for a calendar or a reminder program |
| \`papers/\`, \`papers.csv\` | your papers, and a list of them |
| \`notes/\` | your rules and notes, a folder for each category |
| \`handoffs/\` | what agents left for the next session, a folder for each project. Times are of Korea (UTC+9) |
| \`files/\` | your synced files, a folder for each vault |
| \`conflicts/\` | the other side of each open conflict |
| \`backups/\`, \`backups.csv\` | git backups as you uploaded them: still encrypted. \`age --decrypt\` and your key open one that \`cairn backups push\` made |

It has what is current. Earlier versions, the trash and the list of changes are in the archive that \`cairn export\` makes without
\`--plain\`; only from that one \`cairn import\` makes an account again. Keys, tokens and passwords are in neither.
${missing}`;
}
