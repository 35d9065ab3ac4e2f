/** Answers the requests of the control socket, as lines of JSON. */
import { operatorSource } from '../audit/note.ts';
import { Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import { type ControlTools, runControl } from '../control/commands.ts';
import { operatorSentence } from '../control/operator-words.ts';
import { type ControlAnswer, type ControlProgress, controlRequest } from '../control/protocol.ts';
import type { ControlCaller } from '../control/socket.ts';
import { limits } from '../limits/service.ts';

/** Runs one request. The answer has the result, or the sentence of its refusal. */
export async function answerControl(
  tools: ControlTools,
  line: string,
  { tell, signal }: ControlCaller,
  log: Log,
): Promise<string> {
  const progress = new ToldProgress(tell);
  try {
    // Who typed the command: whoever reaches the socket may read everything, so it need not be proved.
    const { operator_user: user, ...request } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    const parsed = controlRequest.safeParse(request);
    if (!parsed.success) return refuseControl('this cairn command and the running service are of different versions');
    const answer: ControlAnswer = {
      ok: true,
      result: await runControl(
        tools,
        parsed.data,
        { tell: progress.note, signal },
        operatorSource(typeof user === 'string' ? user : undefined),
      ),
    };
    return JSON.stringify(answer);
  } catch (error) {
    if (error instanceof Refusal) return refuseControl(operatorSentence(error));
    log.error({ err: error }, 'a control command broke an assumption');
    return refuseControl('the command failed; the log of the service has the reason');
  } finally {
    progress.close();
  }
}

/** The answer that refuses a request with a sentence. */
export function refuseControl(error: string): string {
  const answer: ControlAnswer = { ok: false, error };
  return JSON.stringify(answer);
}

/** Reports the progress of long work to the caller at intervals, so that the connection does not time out. */
class ToldProgress {
  readonly #tell: (line: string) => void;
  #latest: ControlProgress | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /** Records the progress of the work. */
  readonly note = (done: number, total: number): void => {
    this.#latest = { done, total };
    this.#timer ??= setInterval(() => this.#tell(JSON.stringify(this.#latest)), limits.archiveProgressMs);
  };

  close(): void {
    clearInterval(this.#timer);
  }
}
