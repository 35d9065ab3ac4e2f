/**
 * Lists every command in the order of the help. The module of a command is loaded only when the command is called or
 * listed, and the modules of the service only for operator commands. So `cairn help` and the client commands need no
 * native library and start ten times as fast.
 */
import type { Command, CommandGroup, FoundCommand } from './command.ts';
import { findAmong, type SourceGroup, userGroup } from './user-commands.ts';

const groups: readonly SourceGroup[] = [
  userGroup,
  {
    title: 'Run a hub with its data in the current folder',
    sources: [
      { word: 'serve', load: async () => [(await import('./operator/serve.ts')).serveCommand] },
      { word: 'verify', load: async () => [(await import('./operator/verify.ts')).verifyCommand] },
      { word: 'stats', load: async () => [(await import('./operator/stats.ts')).statsCommand] },
      { word: 'backup', load: async () => [(await import('./operator/backup.ts')).backupCommand] },
      { word: 'follow', load: async () => [(await import('./operator/upkeep/follow.ts')).followCommand] },
      { word: 'restore', load: async () => [(await import('./operator/backup.ts')).restoreCommand] },
      { word: 'export', load: async () => [(await import('./operator/archive.ts')).exportCommand] },
      { word: 'import', load: async () => [(await import('./operator/archive.ts')).importCommand] },
      { word: 'compact', load: async () => [(await import('./operator/upkeep/compact.ts')).compactCommand] },
      { word: 'member', load: async () => (await import('./operator/member.ts')).memberCommands },
      { word: 'rekey', load: async () => [(await import('./operator/upkeep/rekey.ts')).rekeyCommand] },
      { word: 'health', load: async () => [(await import('./operator/upkeep/health.ts')).healthCommand] },
      { word: 'doctor', load: async () => [(await import('./operator/upkeep/doctor.ts')).doctorCommand] },
      { word: 'service', load: async () => (await import('./operator/upkeep/service.ts')).serviceCommands },
      { word: 'demo', load: async () => [(await import('./operator/demo.ts')).demoCommand] },
    ],
  },
  {
    title: 'Manage accounts of the hub in the current folder',
    sources: [
      { word: 'account', load: loadAccount },
      { word: 'invite', load: async () => (await import('./operator/invite.ts')).inviteCommands },
      { word: 'client', load: async () => (await import('./operator/client.ts')).clientCommands },
      { word: 'audit', load: async () => [(await import('./operator/audit.ts')).auditCommand] },
      { word: 'key', load: async () => (await import('./operator/key.ts')).keyCommands },
      { word: 'token', load: async () => (await import('./operator/token.ts')).tokenCommands },
      { word: 'device', load: async () => (await import('./operator/device.ts')).deviceCommands },
      { word: 'identity', load: async () => (await import('./operator/identity.ts')).identityCommands },
    ],
  },
  {
    title: 'Help',
    sources: [
      { word: 'help', load: async () => [(await import('./manual.ts')).helpCommand(loadGroups)] },
      { word: 'news', load: async () => [(await import('./manual.ts')).newsCommand] },
      { word: 'completion', load: async () => [(await import('./completion.ts')).completionCommand(loadGroups)] },
    ],
  },
];

async function loadAccount(): Promise<readonly Command[]> {
  const [{ accountCommands }, { standingCommands }] = await Promise.all([
    import('./operator/account.ts'),
    import('./operator/account-standing.ts'),
  ]);
  return [...accountCommands, ...standingCommands];
}

/** Loads every command, for the help and for completion. */
export async function loadGroups(): Promise<readonly CommandGroup[]> {
  return await Promise.all(
    groups.map(async ({ title, sources }) => ({
      title,
      commands: (await Promise.all(sources.map(({ load }) => load()))).flat(),
    })),
  );
}

/** Finds the command of the first words, as `commandNamed` does. */
export async function findCommand(argv: readonly string[]): Promise<FoundCommand | undefined> {
  return await findAmong(groups, argv);
}
