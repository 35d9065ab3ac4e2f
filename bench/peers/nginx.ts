/** Runs nginx with a generated configuration: static files with sendfile, and WebDAV PUT into a folder. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { requireTool, startProgram, stopProgram, waitForPort } from './child.ts';
import { freePort } from './free-port.ts';

export interface Nginx {
  readonly port: number;
  readonly url: string;
  /** Folder served at `/`, also the target of PUT. */
  readonly root: string;
  /** Process ids of the master and its workers. */
  pids(): number[];
  /** Stops nginx and removes the files it stored. */
  stop(): Promise<void>;
}

export async function startNginx(workers: number): Promise<Nginx> {
  requireTool('nginx', 'nginx');
  const folder = temporaryFolder();
  const root = join(folder, 'root');
  mkdirSync(root);
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port, workers));
  const args = ['-p', folder, '-e', join(folder, 'error.log'), '-c', file];
  const child = startProgram('nginx', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  await waitForPort(port, child);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    root,
    pids() {
      const { pid = 0 } = child;
      const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
      return [pid, ...workers.map(Number)];
    },
    async stop() {
      await stopProgram(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Access log off, unlimited keep-alive; a larger body buffer than the default so that PUT writes in large pieces. */
function configuration(folder: string, port: number, workers: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n  ');
  return `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes ${workers};
pid ${folder}/pid;
events { worker_connections 2048; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 120s;
  keepalive_requests 100000000;
  client_max_body_size 0;
  client_body_buffer_size 1m;
  ${temporary}
  server {
    listen 127.0.0.1:${port};
    root ${folder}/root;
    dav_methods PUT;
  }
}
`;
}
