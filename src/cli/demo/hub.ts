/** A hub of its own for `cairn demo`: a process in a temporary folder, which is removed at the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { StartError } from '../../common/start-error.ts';
import { environmentWithoutSettings } from '../../config.ts';
import type { ControlAnswer, ControlRequestOf, ControlResults } from '../../control/protocol.ts';
import { askControl } from '../../control/socket.ts';

const COMMAND = fileURLToPath(new URL('../cairn.js', import.meta.url));

export class DemoHub {
  readonly folder: string;
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, url: string, child: ChildProcess) {
    this.folder = folder;
    this.url = url;
    this.#process = child;
  }

  /** Starts a hub on the loopback address. `port` 0: a free one. Throws StartError when it does not start. */
  static async start(port: number): Promise<DemoHub> {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-demo-'));
    const env = {
      ...environmentWithoutSettings(),
      CAIRN_DATA: join(folder, 'data'),
      CAIRN_PORT: String(port),
      CAIRN_HOST: '127.0.0.1',
    };
    const child = spawn(process.execPath, [COMMAND, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      return new DemoHub(folder, `http://127.0.0.1:${await portOf(child)}`, child);
    } catch (error) {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs a control command in the hub. Throws StartError when it is refused. */
  async control<C extends keyof ControlResults>(request: ControlRequestOf<C>): Promise<ControlResults[C]> {
    const line = await askControl(join(this.folder, 'data'), JSON.stringify({ ...request, operator_user: 'demo' }));
    if (line === undefined) throw new StartError('the hub of the demo has stopped.');
    const answer = JSON.parse(line) as ControlAnswer;
    if (!answer.ok) throw new StartError(answer.error);
    return answer.result as ControlResults[C];
  }

  /** Resolves when the process has ended, for whatever reason. */
  async ended(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, 'exit');
  }

  /** Stops the hub and removes its data. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM');
    await this.ended();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The port of a hub that starts, from its log. */
async function portOf(child: ChildProcess): Promise<number> {
  const { stdout } = child;
  if (stdout === null) throw new StartError('the hub of the demo has no output.');
  for await (const line of createInterface({ input: stdout })) {
    const found = line.startsWith('{') ? (JSON.parse(line) as { msg?: string; port?: number }) : {};
    if (found.msg !== 'listening' || found.port === undefined) continue;
    // A full pipe would stop the hub.
    stdout.resume();
    return found.port;
  }
  throw new StartError('the hub of the demo did not start; its reason is above.');
}
