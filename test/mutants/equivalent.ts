/** Mutants that change nothing that anybody can see: by file, the line as it is and as it becomes, and why. They do not count. */

const CHECKED_BEFORE = 'a stored or accepted modification time can always be read';
const SIGN_ALONE = 'only the sign of a comparison is used';
const ALWAYS_SO = 'what stands beside it decides the same';
const FAST_PATH = 'a faster answer of the same kind';

export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/http/checks/wrong-tries.ts': {
    'const retryAfterSeconds = Math.max(1, Math.ceil((first + windowMs - now()) / 1000)); => const retryAfterSeconds = Math.max(0, Math.ceil((first + windowMs - now()) / 1000));':
      ALWAYS_SO,
  },
  'src/oauth/clients/redirect-uri.ts': {
    'if (!isLoopback(registered) || !isLoopback(asked)) return false; => if (((!isLoopback(registered)) && (!isLoopback(asked)))) return false;':
      ALWAYS_SO,
  },
  'src/replication/log/probe.ts': {
    "const name = `probe/${randomBytes(12).toString('hex')}`; => const name = `probe/${randomBytes(13).toString('hex')}`;":
      'another name of the same kind',
  },
  'src/replication/members/take-over.ts': {
    "const ownersMs = Number(newest.note?.['lease'] ?? 0); => const ownersMs = Number(newest.note?.['lease'] ?? 1);":
      ALWAYS_SO,
  },
  'src/replication/members/unlogged.ts': {
    "if (Number(note['through'] ?? 0) >= unlogged.first) return 'confirm'; => if (Number((note['through'])) >= unlogged.first) return 'confirm';":
      ALWAYS_SO,
  },
  'src/sync/log/glob.ts': {
    'glob.at(-1)?.isAny === true && glob.length > 1, => ((glob.at(-1)?.isAny === true) || (glob.length > 1)),':
      ALWAYS_SO,
    'glob.at(-1)?.isAny === true && glob.length > 1, => (glob.length > 1),': ALWAYS_SO,
  },
  'src/sync/pull/plan.ts': {
    'const middle = (low + high + 1) >> 1; => const middle = (low + high + 2) >> 1;':
      'another middle of the same search',
  },
  'src/sync/log/hlc.ts': {
    'if (canonical !== undefined) return canonical; => ;': FAST_PATH,
    'if (text.length !== CANONICAL_CHARS || !CANONICAL.test(text)) return undefined; => if (text.length !== CANONICAL_CHARS || (CANONICAL.test(text))) return undefined;':
      FAST_PATH,
    'if (text.length !== CANONICAL_CHARS || !CANONICAL.test(text)) return undefined; => if ((!CANONICAL.test(text))) return undefined;':
      FAST_PATH,
    'return ms === undefined ? undefined : { ms, counter: Number.parseInt(text.slice(25, 29), 16), node: text.slice(30) }; => return undefined;':
      FAST_PATH,
    'return a.node === b.node ? 0 : a.node < b.node ? -1 : 1; => return a.node === b.node ? 0 : a.node < b.node ? -1 : 2;':
      SIGN_ALONE,
    'return a.node === b.node ? 0 : a.node < b.node ? -1 : 1; => return a.node === b.node ? 0 : a.node < b.node ? -2 : 1;':
      SIGN_ALONE,
  },
  'src/sync/log/paths.ts': {
    "if (plain === '' || path.length > SHOWN_CHARS_MAX) return ''; => if ((path.length > SHOWN_CHARS_MAX)) return '';":
      ALWAYS_SO,
    "const path = isPlain ? given : given.normalize('NFC'); => const path = (given.normalize('NFC'));": FAST_PATH,
  },
  'src/sync/push/decision.ts': {
    'const older = (parseIsoMs(before) ?? 0) - (parseIsoMs(mtime) ?? 0); => const older = (parseIsoMs(before) ?? 1) - (parseIsoMs(mtime) ?? 0);':
      CHECKED_BEFORE,
    'const older = (parseIsoMs(before) ?? 0) - (parseIsoMs(mtime) ?? 0); => const older = (parseIsoMs(before) ?? 0) - (parseIsoMs(mtime) ?? 1);':
      CHECKED_BEFORE,
  },
};
