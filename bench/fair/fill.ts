/** Fills a hub with what the loads ask for: one account with files, texts that are hard to compare, and its keys. */
import { randomBytes } from 'node:crypto';
import { PASSWORD, post, structured, toolRequest, withKey } from '../../test/support/gateway.ts';
import type { Hub } from '../../test/support/hub.ts';
import { credential } from '../../test/support/mirror.ts';
import { signedUp } from '../../test/support/page-client.ts';
import { Device } from '../../test/support/sync.ts';
import { type Attacked, FILES, KEYS, letterLines, quotedLines, shuffledLines } from './loads.ts';

const FILE_BYTES = 1700;
const FILES_PER_BATCH = 100;
const BATCHES_AT_ONCE = 4;
const COMPARED_LINES = 1000;

/** Lines that all differ between two versions: the largest page that compares them. */
const compared = (version: number) =>
  Array.from(
    { length: COMPARED_LINES },
    (_, at) => `line ${at} of version ${version} has <b>some</b> words & more`,
  ).join('\n');

const MARKDOWN = ['# a\n', '[a](b) *c **d** e* ', '> - 1. `x`\n', '| a | b |\n|---|---|\n| c | d |\n\n'];
const MARKDOWN_BYTES = 250 * 1024;

async function fillNotes(hub: Hub, key: string, count: number, vault: string | undefined): Promise<void> {
  const device = new Device(hub, key);
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const first = next;
      next = Math.min(count, next + FILES_PER_BATCH);
      const items = Array.from({ length: next - first }, (_, index) => {
        const at = first + index;
        const line = `- entry ${at} of a note with some text in it, and a "quoted" word\n`;
        const content = `# Note ${at}\n\n${line.repeat(FILE_BYTES / line.length)}`;
        const path = `notes/${Math.floor(at / 100)}/note-${at}.md`;
        return toolRequest(index, 'sync_push', device.pushOf(path, content, { vault_id: vault }));
      });
      const answer = await post(hub, items, withKey(key));
      if (answer.text.includes('"error"')) throw new Error(`sync_push was refused: ${answer.text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, lane));
}

async function fillTexts(hub: Hub, key: string): Promise<void> {
  const device = new Device(hub, key);
  await device.push(FILES.shuffled, shuffledLines(19_000, 1));
  await device.push(FILES.letters, letterLines(500_000, 1));
  await device.push(FILES.merged, quotedLines(115_000, 1));
  for (const [at, path] of FILES.markdown.entries()) {
    const piece = MARKDOWN[at] ?? '';
    await device.push(path, piece.repeat(MARKDOWN_BYTES / piece.length));
  }
  const { sha256 } = await device.push(FILES.compared, compared(1));
  await device.push(FILES.compared, compared(2), { base_sha: sha256 });
}

/** Fills a hub without limits. `files`: in each of two vaults. */
export async function fillHub(hub: Hub, files: number): Promise<Attacked> {
  const email = `${randomBytes(6).toString('hex')}@example.org`;
  const browser = await signedUp(hub, email, PASSWORD);
  const signIn = async () =>
    (await structured<{ mcp_key: string }>(hub, 'login_and_get_key', { email, password: PASSWORD })).mcp_key;
  const key = await signIn();
  const { vault_id: other } = await structured<{ vault_id: string }>(hub, 'vault_create', { name: 'Restored' }, key);
  await fillTexts(hub, key);
  await fillNotes(hub, key, files, undefined);
  await fillNotes(hub, key, files, other);
  const { vault_id: vault } = await structured<{ vault_id: string }>(hub, 'sync_list', {}, key);
  return {
    url: hub.url,
    key,
    keys: [],
    credential: await credential(hub, key),
    cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    vault,
    restored: { vault: other, at: new Date(Date.now() + 1000).toISOString() },
  };
}

/** The least that the loads of a limited hub need: one account with many keys, made from as many addresses. */
export async function fillLimited(hub: Hub): Promise<Attacked> {
  const email = `${randomBytes(6).toString('hex')}@example.org`;
  await structured(hub, 'signup_and_get_key', { email, password: PASSWORD });
  const keys: string[] = [];
  for (let at = 0; at < KEYS; at += 1) {
    const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'login_and_get_key', {
      email,
      password: PASSWORD,
    });
    keys.push(key);
  }
  const [key = ''] = keys;
  return {
    url: hub.url,
    key,
    keys,
    credential: await credential(hub, key),
    cookie: '',
    vault: '',
    restored: { vault: '', at: '' },
  };
}
