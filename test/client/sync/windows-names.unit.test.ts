/** Which paths a folder takes on Windows, which ends names early and has names of its own. */
import { expect, test } from 'vitest';
import { checkFolderPath, isBad } from '../../../src/client/sync/folder/path.ts';

test.each([
  ['10:30.md', 'one of'],
  ['notes/What?.md', 'one of'],
  ['a.md:stream', 'one of'],
  ['C:/x', 'one of'],
  ['"quoted"', 'one of'],
  ['Makefile.', 'a dot or a space'],
  ['folder /f', 'a dot or a space'],
  ['.. /f', 'a dot or a space'],
  ['con', 'a device'],
  ['a/NUL.tar.gz', 'a device'],
  ['aux .md', 'a device'],
  ['COM\u00b9', 'a device'],
  ['conout$', 'a device'],
  ['console', undefined],
  ['com10', undefined],
  ['x.con', undefined],
  ['a.b c', undefined],
])('[SYN-24] on Windows, %j is left out for %s, and other systems take it', (path, why) => {
  const onWindows = checkFolderPath(path, 'win32');
  expect(isBad(onWindows) ? onWindows.bad : undefined).toEqual(why && expect.stringContaining(why));
  for (const platform of ['linux', 'darwin']) expect(checkFolderPath(path, platform)).toBe(path);
});

test.each(['.git', '.git./config', 'GIT~1/x', 'Cairn~1', 'g\u200dit~1', '.git:x', '.cairn ', 'a/../b', 'a\\b'])(
  '[SYN-24] %j is taken nowhere',
  (path) => {
    for (const platform of ['linux', 'darwin', 'win32']) expect(isBad(checkFolderPath(path, platform))).toBe(true);
  },
);
