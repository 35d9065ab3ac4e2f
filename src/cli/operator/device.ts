/**
 * cairn device approve, deny: approves or denies a pending device sign-in for an account, as its owner can on the page.
 */
import { type Command, needs, type Options } from '../command.ts';
import { printResult, table } from '../output.ts';
import { control } from './control.ts';

const EMAIL = { ...needs('email', 'EMAIL'), formerly: 'account' };

export const deviceCommands: readonly Command[] = [
  {
    name: 'device approve',
    summary: 'approve the device that shows this user code',
    operands: ['CODE'],
    options: [EMAIL],
    examples: ['cairn device approve BCDF-GHJK --email you@example.org'],
    run: (options) => answer(options, true),
  },
  {
    name: 'device deny',
    summary: 'deny the device that shows this user code',
    operands: ['CODE'],
    options: [EMAIL],
    examples: ['cairn device deny BCDF-GHJK --email you@example.org'],
    run: (options) => answer(options, false),
  },
];

async function answer(options: Options, isApproved: boolean): Promise<number> {
  const answered = await control({
    command: 'device.answer',
    code: options.operand() ?? '',
    email: options.required('email'),
    isApproved,
  });
  return printResult(options, answered, () =>
    table([
      [isApproved ? 'approved' : 'denied', answered.user_code],
      ['client', answered.client],
      ...(answered.device_name === null ? [] : [['device', answered.device_name] as const]),
      ['asked from', answered.address],
      ['scope', answered.scope],
    ]),
  );
}
