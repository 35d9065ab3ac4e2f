/** Loaded by --import: all files below TEST_MODELESS_DISK have mode 777 and keep it, and one name, as on vfat and exFAT. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const disk = process.env.TEST_MODELESS_DISK;
const isThere = (file) =>
  (typeof file === 'number' ? fs.readlinkSync(`/proc/self/fd/${file}`) : String(file)).startsWith(disk);

for (const name of ['statSync', 'lstatSync', 'fstatSync']) {
  const before = fs[name];
  fs[name] = (file, ...more) => {
    const stats = before(file, ...more);
    if (stats !== undefined && isThere(file)) stats.mode |= 0o777;
    return stats;
  };
}
for (const name of ['chmodSync', 'fchmodSync']) {
  const before = fs[name];
  fs[name] = (file, mode) => {
    if (isThere(file)) throw Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: name });
    before(file, mode);
  };
}
const link = fs.linkSync;
fs.linkSync = (from, to) => {
  if (isThere(to)) throw Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'link' });
  link(from, to);
};
syncBuiltinESMExports();
