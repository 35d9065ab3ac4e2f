/**
 * A process that stays and runs one command of the built program after another, or starts and stops the service: for
 * loops of thousands, in which starting a process each time would be most of the work. What ends the process ends a
 * command with the name of the signal; the next command gets a new process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type CommandResult, cleanEnvironment, type Hub, isCompiled } from './hub.ts';

export interface RoomRequest {
  /** The words after `cairn`, `serve` to start the service and `stop` to end it. */
  readonly argv: readonly string[];
}

/** A room gets a new process after so many commands, so that nothing of them piles up. */
const COMMANDS_PER_PROCESS = 500;
/** Characters kept of what a process itself wrote, its log and the stack of an error that ended it. */
const SAID_CHARS = 8000;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

class CommandRoom {
  readonly #env: Record<string, string>;
  #running: RoomProcess | undefined;
  #done = 0;

  /** `env`: the settings of every command. */
  constructor(env: Record<string, string>) {
    this.#env = env;
  }

  /** Runs a command as `runCairn` does. A process that ended gives -1, its signal and its last lines. `serve` gives the port. */
  async run(...argv: string[]): Promise<CommandResult> {
    this.#running ??= openProcess(this.#env);
    const { child, ended } = this.#running;
    const answered = new Promise<CommandResult>((resolve) => {
      child.once('message', (answer) => resolve(answer as CommandResult));
    });
    // It may have ended since the command before.
    if (child.connected) child.send({ argv } satisfies RoomRequest, () => undefined);
    const answer = await Promise.race([answered, ended]);
    if (hasEnded(child)) this.#running = undefined;
    this.#done += 1;
    return answer;
  }

  /** Ends the process if it has done its share, while no service runs in it. */
  async rest(): Promise<void> {
    if (this.#done >= COMMANDS_PER_PROCESS) await this.end();
  }

  /** Ends the process at once. */
  async end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#done = 0;
    running?.child.kill('SIGKILL');
    await running?.ended;
  }
}

interface RoomProcess {
  readonly child: ChildProcess;
  /** Resolves when it has ended, with how, and with the last lines that it wrote. */
  readonly ended: Promise<CommandResult>;
}

function openProcess(env: Record<string, string>): RoomProcess {
  const script = fileURLToPath(
    new URL(`${isCompiled ? '' : '../../dist/test/support/'}command-room-process.js`, import.meta.url),
  );
  const child = fork(script, { env: cleanEnvironment(env), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-SAID_CHARS);
    });
  }
  const ended = new Promise<CommandResult>((resolve) => {
    // Not `exit`: after that, some of its lines may still have to be read.
    child.once('close', (code, signal) => {
      resolve({ code: -1, stdout: '', stderr: `the process ended with ${signal ?? code}; its last lines:\n${said}` });
    });
  });
  return { child, ended };
}

/** What tests ask of a hub that runs in a room; it has no process of its own. */
type RoomHub = Pick<Hub, 'port' | 'url' | 'dataFolder' | 'cli' | 'kill'>;

/** One room for the service of a data folder and one for the commands beside it. */
export class HubRooms {
  readonly dataFolder: string;
  readonly #service: CommandRoom;
  readonly #commands: CommandRoom;

  constructor(dataFolder: string) {
    this.dataFolder = dataFolder;
    const unlimited = { CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0', CAIRN_LOOP_DELAY_MS: '0' };
    const env = { CAIRN_DATA: dataFolder, CAIRN_PORT: '0', CAIRN_SIGNUPS_PER_DAY: '0', ...unlimited };
    this.#service = new CommandRoom(env);
    this.#commands = new CommandRoom(env);
  }

  /** Starts the service; `kill` stops it in an orderly way. Throws an Error with what the start said. */
  async start(): Promise<Hub> {
    const { code, stdout: port, stderr } = await this.#service.run('serve');
    if (code !== 0) throw new Error(`the hub did not start: ${stderr}`);
    const hub: RoomHub = {
      port: Number(port),
      url: `http://127.0.0.1:${port}`,
      dataFolder: this.dataFolder,
      cli: this.cli,
      kill: async () => {
        const stopped = await this.#service.run('stop');
        if (stopped.code !== 0) throw new Error(`the hub did not stop: ${stopped.stderr}`);
        await this.#service.rest();
      },
    };
    return hub as Hub;
  }

  /** Runs a command beside the service, or alone. */
  readonly cli = async (...args: string[]): Promise<CommandResult> => {
    const result = await this.#commands.run(...args);
    await this.#commands.rest();
    return result;
  };

  async end(): Promise<void> {
    await this.#service.end();
    await this.#commands.end();
  }
}
