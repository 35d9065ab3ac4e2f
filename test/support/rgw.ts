/**
 * A bucket of Ceph RGW on this machine: one monitor, one OSD that keeps its objects in memory, one gateway, all on
 * loopback, from Debian's packages. All files of a test run share it.
 */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AwsV4Signer } from 'aws4fetch';
import { findFreePort, untilListening } from './free-port.ts';
import { endWithRun, onceInRun, removeWithRun } from './run-wide.ts';
import { succeeds } from './succeeds.ts';

const PROGRAMS = ['ceph', 'ceph-mon', 'ceph-osd', 'radosgw'];
/** Tests that need the gateway are left out without Debian's ceph-mon, ceph-osd, ceph-common and radosgw. */
export const hasRgw = PROGRAMS.every((program) => isInstalled(program));

function isInstalled(program: string): boolean {
  return succeeds('/bin/sh', '-c', `PATH=$PATH:/usr/sbin command -v ${program}`);
}

export interface Rgw {
  readonly endpoint: string;
  /** The settings of a hub whose log is `s3://logs/…`. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the gateway of this test run, or finds the one that another file started. It has one bucket, `logs`. */
export async function useRgw(): Promise<Rgw> {
  const endpoint = await onceInRun('rgw', startRgw);
  return rgwAt(endpoint);
}

/** The same bucket through another address, such as that of a relay. */
export function rgwAt(endpoint: string): Rgw {
  const env = { AWS_ACCESS_KEY_ID: 'access', AWS_SECRET_ACCESS_KEY: 'secret', AWS_ENDPOINT_URL: endpoint };
  return { endpoint, env };
}

const run = promisify(execFile);

async function startRgw(): Promise<string> {
  const memory = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'cairn-rgw-'));
  removeWithRun(folder);
  const [monPort, oldMonPort, port] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const fsid = randomUUID();
  const addresses = `[v2:127.0.0.1:${monPort},v1:127.0.0.1:${oldMonPort}]`;
  writeFileSync(join(folder, 'ceph.conf'), config(folder, fsid, addresses));
  for (const part of ['mon', 'osd', 'rgw']) mkdirSync(join(folder, part));
  const tool = async (program: string, ...args: string[]) =>
    (await run(program, ['-c', 'ceph.conf', ...args], { cwd: folder })).stdout;
  const allow = (...parts: string[]) => parts.flatMap((part) => ['--cap', part, 'allow *']);
  await run('ceph-authtool', ['--create-keyring', 'keyring', '--gen-key', '-n', 'mon.', ...allow('mon')], {
    cwd: folder,
  });
  await run('ceph-authtool', ['keyring', '--gen-key', '-n', 'client.admin', ...allow('mon', 'osd', 'mgr')], {
    cwd: folder,
  });
  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', addresses, 'monmap'], { cwd: folder });
  await tool('ceph-mon', '--mkfs', '-i', 'a', '--monmap', 'monmap', '--keyring', 'keyring');
  daemon(folder, 'ceph-mon', '-i', 'a');
  const osd = randomUUID();
  await tool('ceph', 'osd', 'create', osd);
  const caps = ['mon', 'allow *', 'osd', 'allow *', 'mgr', 'allow *'];
  appendFileSync(join(folder, 'keyring'), await tool('ceph', 'auth', 'get-or-create', 'osd.0', ...caps));
  await tool('ceph-osd', '-i', '0', '--osd-uuid', osd, '--mkfs');
  daemon(folder, 'ceph-osd', '-i', '0');
  const user = ['-n', 'client.admin'];
  daemon(folder, 'radosgw', ...user, '--admin_socket', `${folder}/rgw.asok`, '--rgw_frontends', beast(port));
  await untilListening(port);
  const keys = ['--access-key=access', '--secret-key=secret'];
  await tool('radosgw-admin', ...user, 'user', 'create', '--uid=hub', '--display-name=hub', ...keys);
  const endpoint = `http://127.0.0.1:${port}`;
  await makeBucket(endpoint);
  return endpoint;
}

const beast = (port: number): string => `beast endpoint=127.0.0.1:${port}`;

function daemon(folder: string, program: string, ...args: string[]): void {
  const out = openSync(join(folder, `${program}.out`), 'a');
  const { pid } = spawn(program, ['-f', '-c', 'ceph.conf', ...args], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', out, out],
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` },
  });
  if (pid !== undefined) endWithRun(pid);
}

async function makeBucket(endpoint: string): Promise<void> {
  const [accessKeyId, secretAccessKey] = ['access', 'secret'];
  const url = `${endpoint}/logs/`;
  const signer = new AwsV4Signer({ method: 'PUT', url, accessKeyId, secretAccessKey, service: 's3' });
  const signed = await signer.sign();
  const answer = await fetch(signed.url, { method: 'PUT', headers: signed.headers });
  if (!answer.ok) throw new Error(`the gateway made no bucket: ${answer.status} ${await answer.text()}`);
}

/** One small OSD: pools of one placement group, no manager, no threads that a test does not need. */
const config = (folder: string, fsid: string, addresses: string): string => `[global]
fsid = ${fsid}
mon_host = ${addresses}
public_network = 127.0.0.0/8
ms_bind_ipv6 = false
run_dir = ${folder}
keyring = ${folder}/keyring
log_to_file = false
admin_socket = ${folder}/$name.asok
mon_data = ${folder}/mon
osd_data = ${folder}/osd
rgw_data = ${folder}/rgw
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 5000
paxos_propose_interval = 0.05
paxos_min_wait = 0.01
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 4294967296
rgw_thread_pool_size = 64
rgw_enable_ops_log = false
rgw_enable_usage_log = false
rgw_enable_gc_threads = false
rgw_enable_lc_threads = false
rgw_enable_quota_threads = false
rgw_run_sync_thread = false
`;
