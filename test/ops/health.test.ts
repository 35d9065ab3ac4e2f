/** cairn health: what the running hub says of itself through its control socket. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { runCairn, startHub } from '../support/hub.ts';

test('[OPS-27] cairn health answers with TLS on any port, lists what is wrong, and fails when no hub runs', async () => {
  const { cert, key } = selfSigned();
  const hub = await startHub({ env: { CAIRN_TLS_CERT: cert, CAIRN_TLS_KEY: key } });
  const health = (...args: string[]) => runCairn(['health', ...args], { CAIRN_DATA: hub.dataFolder });
  const fine = await health('--json');
  expect([fine.code, JSON.parse(fine.stdout)]).toEqual([0, { status: 'ready', checks: expect.any(Array) }]);
  const damaged = { at_ms: Date.now(), problems: 2 };
  writeFileSync(join(hub.dataFolder, 'last-verify'), JSON.stringify(damaged));
  await expect
    .poll(async () => (await health('--ready')).stdout, { timeout: 20_000 })
    .toMatch(/^ready\n(.*\n)*critical {2}damage {2}Stored bytes do not match their hash/);
  const doctor = await runCairn(['doctor'], { CAIRN_DATA: hub.dataFolder });
  expect(doctor.stdout).toMatch(/^wrong +damage +Stored bytes do not match their hash/m);
  await hub.stop();
  const none = await health();
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('no hub runs on this data folder')]);
});
