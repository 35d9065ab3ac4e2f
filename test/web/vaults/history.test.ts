/** The history of a file in pages: what each version changed, what changed since, over renames too. */
import { expect, test } from 'vitest';
import { PASSWORD } from '../../support/gateway.ts';
import { signedUp } from '../../support/page-client.ts';
import { Device, sha256Of } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });

test('[WEB-14] a version shows what it changed and what changed since, with counts, over a rename', async () => {
  const client = await signedUp(hub, 'history@example.org', PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const device = new Device(hub, key);
  const first = await device.push('old.md', 'one\ntwo\nthree\n');
  const second = await device.push('old.md', 'one\n2 <b>\nthree\nfour\n', { base_sha: first.sha256 });
  const moved = await device.push('new.md', 'one\n2 <b>\nthree\nfour\n', {
    from_path: 'old.md',
    base_sha: second.sha256,
  });
  const last = await device.push('new.md', 'one\n', { base_sha: moved.sha256 });
  // Numbers count per file, whatever else the vault has seen, and each version tells what it changed.
  await device.push('elsewhere.md', 'x');
  await client.open(`/vaults/${first.vault_id}/file?path=new.md`);
  const rows = client.text.slice(client.text.indexOf('History')).replace(/([+−])\s*(\d)/g, '$1 $2');
  expect([...rows.matchAll(/version (\d+), (\w+).*?(\+ \d+ − \d+) lines/g)].map(([, ...found]) => found)).toEqual([
    ['4', 'updated', '+ 0 − 3'],
    ['3', 'renamed', '+ 0 − 0'],
    ['2', 'updated', '+ 2 − 1'],
    ['1', 'created', '+ 3 − 0'],
  ]);
  const changes = (seq: number, more = '') =>
    client.open(`/vaults/${first.vault_id}/changes?path=new.md&seq=${seq}${more}`);
  for (const [seq, more, says] of [
    [first.seq, '', '+ 3 − 0 lines'],
    [second.seq, '', '+ 2 − 1 lines'],
    [moved.seq, '', 'The content is the same.'],
    [last.seq, '', '+ 0 − 3 lines'],
    [first.seq, '&to=current', '+ 0 − 2 lines'],
    [last.seq, '&to=current', 'The content is the same.'],
  ] as const) {
    const { status } = await changes(seq, more);
    expect([seq, status, client.text.replace(/([+−])\s*(\d)/g, '$1 $2')]).toEqual([
      seq,
      200,
      expect.stringContaining(says),
    ]);
  }
  await changes(second.seq);
  expect([client.text.includes('2 <b>'), client.html.includes('<b>')]).toEqual([true, false]);
  // A version from before the rename is a version of the file.
  await client.open(`/vaults/${first.vault_id}/file?path=new.md&seq=${first.seq}&view=source`);
  expect(client.html.replace(/<[^>]*>/g, '')).toContain('three');
  const other = await device.push('other.md', 'other');
  expect((await changes(other.seq)).status).toBe(404);
  expect((await client.open(`/vaults/${first.vault_id}/file?path=new.md&seq=${other.seq}`)).status).toBe(404);
  const bytes = Buffer.from([0, 1]);
  const binary = await device.push('b.bin', bytes.toString('base64'), { encoding: 'base64', sha256: sha256Of(bytes) });
  await client.open(`/vaults/${first.vault_id}/changes?path=b.bin&seq=${binary.seq}`);
  expect(client.text).toContain('Binary content cannot be compared by lines.');
  await device.push('new.md', '', { deleted: true, content: undefined, sha256: undefined, base_sha: last.sha256 });
  await client.open(`/vaults/${first.vault_id}/changes?path=new.md`);
  expect(client.text.replace(/([+−])\s*(\d)/g, '$1 $2')).toContain('+ 0 − 1 lines');
});

test('[WEB-14, SYN-7] a folder is browsed as it was at a time, restored to it, and that is undone', async () => {
  const client = await signedUp(hub, 'past@example.org', PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const device = new Device(hub, key);
  const kept = await device.push('work/kept.md', 'as it was');
  const gone = await device.push('work/gone.md', 'deleted later');
  await device.push('work/old/deep/a.md', 'a folder of then');
  await device.push('other/x.md', 'outside');
  const vault = `/vaults/${kept.vault_id}`;
  await client.open(`${vault}/file?path=other%2Fx.md`);
  const [, link = ''] = /<a href="([^"]*at=[^"]*)">Folder at this time/.exec(client.html) ?? [];
  const at = new URLSearchParams(link.split('?')[1]?.replaceAll('&amp;', '&')).get('at') ?? '';
  await device.push('work/kept.md', 'changed <b>since</b>', { base_sha: kept.sha256 });
  const deletion = { deleted: true, content: undefined, sha256: undefined };
  await device.push('work/gone.md', '', { ...deletion, base_sha: gone.sha256 });
  await device.push('work/old/deep/a.md', '', { ...deletion, base_sha: sha256Of('a folder of then') });
  await device.push('work/new.md', 'made later');
  await device.push('other/x.md', 'changed outside', { base_sha: sha256Of('outside') });
  const names = () => [...client.html.matchAll(/<td><a [^>]*><bdi class="given">([^<]*)</g)].map(([, name]) => name);
  const past = `${vault}?folder=WORK&at=${encodeURIComponent(at)}`;
  await client.open(past);
  expect([names(), client.text.includes('As it was on')]).toEqual([['old', 'gone.md', 'kept.md'], true]);
  await client.open(`${vault}?folder=work%2Fold%2Fdeep&at=${encodeURIComponent(at)}`);
  expect(names()).toEqual(['a.md']);
  await client.open(`${vault}?folder=work&at=2001-01-01T10:00`);
  expect([names(), client.text.includes('had no files then')]).toEqual([[], true]);
  expect((await client.open(`${vault}?folder=work&at=tomorrow`)).status).toBe(422);
  await client.open(past);
  await client.submit(`${vault}/restore-folder`);
  expect(client.text).toContain('3 files were restored, 1 deleted.');
  await client.open(`${vault}?folder=work`);
  expect(names()).toEqual(['old', 'gone.md', 'kept.md']);
  await client.open(`${vault}/bytes?path=other%2Fx.md`);
  expect(client.html).toBe('changed outside');
  await client.open(past);
  await client.submit(`${vault}/restore-folder`);
  expect(client.text).toContain('Nothing has changed since then.');
});

test('[WEB-14] the undo of a restored folder leads back to what was there before', async () => {
  const client = await signedUp(hub, 'back@example.org', PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  const device = new Device(hub, key);
  const first = await device.push('a/one.md', 'first');
  const vault = `/vaults/${first.vault_id}`;
  await client.open(`${vault}/file?path=a%2Fone.md`);
  const [, link = ''] = /<a href="([^"]*at=[^"]*)">Folder at this time/.exec(client.html) ?? [];
  await device.push('a/one.md', 'second', { base_sha: first.sha256 });
  await device.push('a/two.md', 'two');
  await client.open(link.replaceAll('&amp;', '&'));
  await client.submit(`${vault}/restore-folder`);
  const undo = client.forms.find(({ action }) => action.includes('/restore-folder?'))?.action ?? '';
  await client.submit(undo);
  expect(client.text).toContain('2 files were restored, 0 deleted.');
  await client.open(`${vault}/bytes?path=a%2Fone.md`);
  expect(client.html).toBe('second');
});
