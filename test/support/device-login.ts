/** Runs `cairn login` as a process that waits for somebody to let it in. */
import { type ChildProcess, spawn } from 'node:child_process';
import { CAIRN, type CommandResult, cleanEnvironment } from './hub.ts';

export interface DeviceLogin {
  /** The code that it shows. */
  readonly code: string;
  /** How it ends. */
  end(): Promise<Omit<CommandResult, 'code'> & { readonly code: number | null }>;
}

/** Starts a login that keeps what it is given below `folder`; resolves when it shows its code. */
export async function startLogin(folder: string, ...args: string[]): Promise<DeviceLogin> {
  const env = cleanEnvironment({ XDG_CONFIG_HOME: folder });
  const child: ChildProcess = spawn(process.execPath, [CAIRN, 'login', ...args], { env });
  let stdout = '';
  let stderr = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const code = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /^ {4}([A-Z]{4}-[A-Z]{4})$/m.exec(stdout + stderr)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      look();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      look();
    });
    void exited.then(() => reject(new Error(`login ended: ${stderr}`)));
  });
  return { code, end: async () => ({ code: await exited, stdout, stderr }) };
}
