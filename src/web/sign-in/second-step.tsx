/** The second step of a sign-in: a code from the authenticator app, or a recovery code. */
import type { Route } from '../../http/route/route.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import { signInPath } from '../next-path.ts';
import type { View, Visit } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Form, SubmitButton } from '../ui.tsx';
import type { PendingSignIns } from './pending.ts';
import { type SessionOptions, startSession } from './session.ts';

export const CODE_PATH = '/signin/code';

export interface SecondStepOptions extends SessionOptions, Pick<Capabilities, 'secondFactors' | 'audit'> {
  readonly pending: PendingSignIns;
}

export function secondStepRoutes(options: SecondStepOptions): Route[] {
  const { pages, pending } = options;
  return [
    pages.open(CODE_PATH, (visit) => {
      const found = pending.find(visit.browserId);
      return found === undefined ? pages.go(visit, signInPath('/')) : pages.show(visit, codeView(visit, found.email));
    }),
    pages.openForm(CODE_PATH, async (visit, form) => {
      const found = pending.find(visit.browserId);
      if (found === undefined) {
        return pages.go(visit, signInPath('/'), { text: 'That took too long. Sign in again.', tone: 'bad' });
      }
      const { accountId, passwordHash, email, next } = found;
      const code = form.get('code') ?? '';
      const tried = await problemOf('code', {}, () =>
        options.secondFactors.use(accountId, code, visit.source, pages.knownBrowser(visit, email)),
      );
      if (!tried.ok) {
        options.audit.signInFailed(accountId, 'wrong code', visit.source);
        return pages.show(visit, codeView(visit, email, tried.problem));
      }
      pending.end(visit.browserId);
      return await startSession(options, visit, { accountId, passwordHash, next, tell: email });
    }),
  ];
}

function codeView(visit: Visit, email: string, problem?: Problem): View {
  const form = 'code';
  return {
    title: 'Enter your code',
    problem,
    body: (
      <div class="narrow">
        <h1>Enter your code</h1>
        <p class="lead">Open your authenticator app and enter its 6 digits, or use one of your recovery codes.</p>
        <Form csrf={visit.csrf} action={CODE_PATH}>
          <FormErrors form={form} problem={problem} shown={['code']} />
          <Field form={form} name="code" label="Code" autocomplete="one-time-code" problem={problem} />
          <SubmitButton look="primary">Sign in</SubmitButton>
        </Form>
        <details class="more">
          <summary>No app and no recovery code?</summary>
          <p>
            Ask the operator of this hub to run <code>cairn account reset-2fa --email {email}</code>. Then your password
            alone signs you in. Your keys and signed-in devices work all the time.
          </p>
        </details>
      </div>
    ),
  };
}
