/**
 * Edits a document of the hub in the user's editor. It is saved only if the version on the hub has not changed since.
 */

import { ClientError } from '../../../client/client-error.ts';
import { jsonLine } from '../../../client/shown.ts';
import { ToolRefused } from '../../../client/tool-refused.ts';
import type { Options } from '../../command.ts';
import { print } from '../../output.ts';
import { editText } from './text-input.ts';
import { printAnswer, toolsOf } from './tool-call.ts';

export interface Opened {
  readonly title: string;
  readonly version: number;
  readonly content: string;
}

/** Saves the edited text of `opened` with `tool`; an unchanged text is not saved. Returns exit code 0. */
export async function edit(
  options: Options,
  opened: Opened,
  tool: string,
  reference: Readonly<Record<string, unknown>>,
): Promise<number> {
  const edited = editText(opened.title, opened.content);
  if (edited.text === opened.content) {
    print(options.json ? jsonLine({ status: 'unchanged' }) : 'unchanged');
    edited.discard();
    return 0;
  }
  const change = { ...reference, content: edited.text, expected_version: opened.version };
  try {
    printAnswer(options, await toolsOf(options).call(tool, change));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const message = `${error.message}; your text is in ${edited.path}`;
    throw error instanceof ToolRefused ? new ToolRefused(error.code, message, error.data) : new ClientError(message);
  }
  edited.discard();
  return 0;
}
