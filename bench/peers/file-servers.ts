/** Serves a folder with Caddy and with `rclone serve`, as people do who want no nginx. Those not installed are left out. */
import { note } from '../report.ts';
import { hasTool, startProgram, stopProgram, waitForPort } from './child.ts';
import { freePort } from './free-port.ts';

interface FileServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** By the name of the program. */
export type FileServers = Readonly<Record<string, FileServer>>;

const SERVERS: Readonly<Record<string, (folder: string, address: string) => string[]>> = {
  caddy: (folder, address) => ['file-server', '--root', folder, '--listen', address],
  rclone: (folder, address) => ['serve', 'http', '--addr', address, folder],
};

/** Starts them on loopback, without a log of requests. */
export async function startFileServers(folder: string): Promise<FileServers> {
  const started: Record<string, FileServer> = {};
  for (const [program, argumentsOf] of Object.entries(SERVERS)) {
    if (!hasTool(program)) {
      note(`${program} is missing; install it with: apt-get install ${program}`);
      continue;
    }
    const port = await freePort();
    const child = startProgram(program, argumentsOf(folder, `127.0.0.1:${port}`), { stdio: 'ignore' });
    await waitForPort(port, child);
    started[program] = { url: `http://127.0.0.1:${port}`, stop: () => stopProgram(child) };
  }
  return started;
}
