/**
 * The pages for a forgotten password: request a link by mail, and set a new password with it. They need a mail server.
 */
import { Refusal } from '../../common/fault.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import { signInPath } from '../next-path.ts';
import type { Pages, View, Visit } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Form, SubmitButton } from '../ui.tsx';

const FORGOT = '/forgot';
const RESET = '/reset';
const SIGN_IN = signInPath('/');

export interface ForgotOptions extends Pick<Capabilities, 'resets'> {
  readonly pages: Pages;
}

export function forgotRoutes({ pages, resets }: ForgotOptions): Route[] {
  if (!resets.areOffered) return [];
  return [
    pages.open(FORGOT, (visit) => pages.show(visit, askView(visit))),
    pages.openForm(FORGOT, async (visit, form) => {
      const email = form.get('email') ?? '';
      const tried = await problemOf('forgot', { email }, () => resets.ask(email, visit.source));
      if (!tried.ok) return pages.show(visit, askView(visit, tried.problem));
      return pages.go(visit, '/signin', {
        text: 'If this email has an account here, a link to choose a new password is on its way.',
      });
    }),
    pages.open(RESET, (visit) => {
      const token = visit.request.query.get('token') ?? '';
      return pages.show(visit, resets.isOpen(token) ? resetView(visit, token) : closedView());
    }),
    pages.openForm(RESET, async (visit, form) => {
      const token = form.get('token') ?? '';
      const password = form.get('password') ?? '';
      const tried = await problemOf('reset', {}, async () => {
        try {
          await resets.reset(token, password, visit.source);
          return true;
        } catch (error) {
          if (error instanceof Refusal && error.fault.kind === 'not_found') return false;
          throw error;
        }
      });
      if (!tried.ok) return pages.show(visit, resetView(visit, token, tried.problem));
      if (!tried.value) return pages.show(visit, closedView());
      return pages.go(visit, '/signin', { text: 'Password changed. Sign in with the new one.' });
    }),
  ];
}

function askView(visit: Visit, problem?: Problem): View {
  const form = 'forgot';
  return {
    title: 'Forgot your password?',
    problem,
    body: (
      <div class="narrow">
        <h1>Forgot your password?</h1>
        <p class="lead">
          We send you a link to choose a new one. It works once, for {limits.resetSeconds / 60} minutes.
        </p>
        <Form csrf={visit.csrf} action={FORGOT}>
          <FormErrors form={form} problem={problem} shown={['email']} />
          <Field form={form} name="email" label="Email" type="email" autocomplete="username" problem={problem} />
          <SubmitButton look="primary">Send the link</SubmitButton>
        </Form>
      </div>
    ),
  };
}

function resetView(visit: Visit, token: string, problem?: Problem): View {
  const form = 'reset';
  return {
    title: 'Choose a new password',
    isSecret: true,
    problem,
    body: (
      <div class="narrow">
        <h1>Choose a new password</h1>
        <p class="lead">It signs you out everywhere. Keys and connected devices stay.</p>
        <Form csrf={visit.csrf} action={RESET}>
          <FormErrors form={form} problem={problem} shown={['password']} />
          <input type="hidden" name="token" value={token} />
          <Field
            form={form}
            name="password"
            label="New password"
            type="password"
            autocomplete="new-password"
            problem={problem}
          />
          <SubmitButton look="primary">Change password</SubmitButton>
        </Form>
      </div>
    ),
  };
}

function closedView(): View {
  return {
    title: 'This link no longer works',
    status: 404,
    body: (
      <div class="narrow">
        <h1>This link no longer works</h1>
        <p class="lead">It has expired, was used, or a newer one was sent. Nothing was changed.</p>
        <p>
          <a href={FORGOT}>Ask for a new link</a>, or <a href={SIGN_IN}>sign in</a> if you know your password.
        </p>
      </div>
    ),
  };
}
