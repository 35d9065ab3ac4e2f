/** Starts, awaits and stops the programs compared with the hub; they always end with the bench. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { MissingTool } from '../report.ts';

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Starts a program that ends with this process at the latest. */
export function startProgram(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** Resolves with the exit code and standard output. */
export function runProgram(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = startProgram(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (text: Buffer) => {
      stdout += text.toString();
    });
    child.stderr?.on('data', (text: Buffer) => {
      stderr += text.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${command} ended with ${code}: ${stderr}`));
    });
  });
}

/** Stops a program and resolves when it has ended. */
export function stopProgram(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}

/** Throws MissingTool when the program is not installed. */
export function requireTool(tool: string, debianPackage: string): void {
  if (!hasTool(tool)) throw new MissingTool(tool, debianPackage);
}

export function hasTool(tool: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0;
}

/** How long a program may take to listen: a machine whose processors are taken makes it wait for them. */
const LISTENS_MS = 120_000;

/** Resolves once a program listens on the port. */
export async function waitForPort(port: number, child: ChildProcess): Promise<void> {
  const endMs = performance.now() + LISTENS_MS;
  while (performance.now() < endMs) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode} before it listened`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the server did not listen in time');
}
