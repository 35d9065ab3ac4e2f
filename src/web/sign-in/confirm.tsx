/** The page that asks for the password again, before a session that is not fresh may change keys or passwords. */
import { Refusal } from '../../common/fault.ts';
import type { Route } from '../../http/route/route.ts';
import type { Capabilities } from '../capabilities.ts';
import { AccountName, Field, FormErrors, type Problem } from '../fields.tsx';
import { ownPath } from '../next-path.ts';
import { CONFIRM_PATH, type MemberVisit, type Pages, type View } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Form, SubmitButton } from '../ui.tsx';

export interface ConfirmOptions extends Pick<Capabilities, 'sessions' | 'logins'> {
  readonly pages: Pages;
}

export function confirmRoutes({ pages, sessions, logins }: ConfirmOptions): Route[] {
  return [
    pages.member(CONFIRM_PATH, (visit) => pages.show(visit, confirmView(visit, readAsked(visit.request.query)))),
    pages.memberForm(CONFIRM_PATH, async (visit, form) => {
      const asked = readAsked(form);
      const tried = await problemOf('confirm', {}, async () => {
        const password = form.get('password') ?? '';
        const { accountId, source } = visit;
        if (!(await logins.isPassword({ accountId, password, source }))) {
          throw new Refusal({ kind: 'invalid_fields', fields: { password: ['Wrong password.'] } });
        }
        await sessions.confirm(visit.browserId, source);
      });
      if (!tried.ok) return pages.show(visit, confirmView(visit, asked, tried.problem));
      return (
        (await pages.resume(visit, asked.held)) ??
        pages.go(visit, asked.next, { text: 'Password confirmed. Now repeat your change.' })
      );
    }),
  ];
}

interface Asked {
  readonly next: string;
  /** Names the form that waits for the password; empty: none. */
  readonly held: string;
}

function readAsked(fields: URLSearchParams): Asked {
  return { next: ownPath(fields.get('next')), held: fields.get('held') ?? '' };
}

function confirmView(visit: MemberVisit, { next, held }: Asked, problem?: Problem): View {
  const form = 'confirm';
  return {
    title: 'Confirm your password',
    isSecret: true,
    problem,
    body: (
      <div class="narrow">
        <h1>Confirm your password</h1>
        <p class="lead">
          You signed in a while ago. Enter your password again to change passwords, keys or devices. What you asked for
          happens next.
        </p>
        <Form csrf={visit.csrf} action={CONFIRM_PATH}>
          <FormErrors form={form} problem={problem} shown={['password']} />
          <input type="hidden" name="next" value={next} />
          <input type="hidden" name="held" value={held} />
          <AccountName email={visit.email} />
          <Field
            form={form}
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            problem={problem}
          />
          <SubmitButton look="primary">Confirm</SubmitButton>
        </Form>
      </div>
    ),
  };
}
