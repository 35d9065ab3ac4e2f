/** The pages to sign in, sign up and sign out. */
import type { VNode } from 'preact';
import { normalizeEmail } from '../../accounts/rules.ts';
import type { NewAccount } from '../../accounts/service.ts';
import type { SignupRule } from '../../accounts/sign-up/sign-ups.ts';
import { Refusal } from '../../common/fault.ts';
import type { Route } from '../../http/route/route.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import { ownPath, signInPath } from '../next-path.ts';
import type { Notice } from '../notices.ts';
import type { View, Visit } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Form, SubmitButton } from '../ui.tsx';
import { isMember } from '../visit.ts';
import type { PendingSignIns } from './pending.ts';
import { CODE_PATH } from './second-step.tsx';
import { type SessionOptions, startSession } from './session.ts';

export interface SignInOptions
  extends SessionOptions,
    Pick<Capabilities, 'logins' | 'onboarding' | 'secondFactors' | 'resets' | 'timeZones'> {
  readonly pending: PendingSignIns;
  /** Who may create an account: anyone, invited people, or nobody. */
  readonly signup: SignupRule['kind'];
  /** The least number of bytes of a new password. */
  readonly passwordBytesMin: number;
}

export function signInRoutes(options: SignInOptions): Route[] {
  const { pages, sessions } = options;
  const nextOf = (visit: Visit) => ownPath(visit.request.query.get('next'));
  return [
    pages.open('/signin', (visit) =>
      isMember(visit) ? pages.go(visit, nextOf(visit)) : pages.show(visit, signInView(visit, nextOf(visit), options)),
    ),
    pages.openForm('/signin', (visit, form) => signIn(options, visit, form)),
    pages.open('/signup', (visit) =>
      isMember(visit) ? pages.go(visit, nextOf(visit)) : pages.show(visit, signUpView(visit, nextOf(visit), options)),
    ),
    pages.openForm('/signup', (visit, form) => signUp(options, visit, form)),
    pages.memberForm('/signout', async (visit) => {
      await sessions.end(visit.browserId, visit.source);
      // Scripts of open pages clear what they kept; this covers a browser whose script did not run.
      const { headers, ...reply } = pages.goAs('/', undefined, { text: 'You are signed out.' });
      return { ...reply, headers: { ...headers, 'Clear-Site-Data': '"storage"' } };
    }),
  ];
}

async function signIn(options: SignInOptions, visit: Visit, form: URLSearchParams) {
  const { pages, logins } = options;
  const next = ownPath(form.get('next'));
  const email = form.get('email') ?? '';
  const tried = await problemOf('signin', { email }, async () => {
    try {
      const password = form.get('password') ?? '';
      return await logins.check({ email, password, ...originOf(visit) });
    } catch (error) {
      // The same message for an unknown email and a wrong password.
      if (!(error instanceof Refusal) || error.fault.kind !== 'wrong_login') throw error;
      throw new Refusal({ kind: 'invalid_fields', fields: { login: ['Email or password is wrong.'] } });
    }
  });
  if (!tried.ok) return pages.show(visit, signInView(visit, next, options, tried.problem));
  const { accountId, passwordHash } = tried.value;
  const tell = normalizeEmail(email);
  if (!options.secondFactors.stateOf(accountId).isOn)
    return await startSession(options, visit, { accountId, passwordHash, next, tell });
  options.pending.put(visit.browserId, { accountId, passwordHash, email: tell, next });
  return pages.go(visit, CODE_PATH);
}

async function signUp(options: SignInOptions, visit: Visit, form: URLSearchParams) {
  const { pages, onboarding, timeZones } = options;
  const next = ownPath(form.get('next'));
  const email = form.get('email') ?? '';
  const name = form.get('name')?.trim() ?? '';
  const invite = form.get('invite_code') ?? '';
  const tried = await problemOf('signup', { email, name, invite_code: invite }, () =>
    onboarding.signUp({
      email,
      password: form.get('password') ?? '',
      ...originOf(visit),
      name: name === '' ? undefined : name,
      inviteCode: invite,
    }),
  );
  if (!tried.ok) return pages.show(visit, signUpView(visit, next, options, tried.problem));
  const made = tried.value;
  if (visit.isZoneTold) await timeZones.set(made.account_id, visit.zone.name);
  return await startSession(options, visit, { accountId: made.account_id, next, notice: newKeys(made) });
}

/** The notice with the keys of a new account. They are shown only once. */
function newKeys(made: NewAccount): Notice {
  return {
    text: 'Account created. Copy these two keys now: they are not shown again. Keep them in your password manager.',
    secrets: [
      {
        label: 'First MCP key',
        value: made.mcp_key,
        isMcpKey: true,
        hint: 'For an agent or a tool. You can create more keys and revoke each of them.',
      },
      {
        label: 'Account key',
        value: made.account_key,
        hint: 'Short enough to type. You can replace it in the settings.',
      },
    ],
  };
}

function originOf({ request, mark }: Visit) {
  return { address: request.address, agent: request.header('user-agent'), mark };
}

function signInView(visit: Visit, next: string, { signup, resets }: SignInOptions, problem?: Problem): View {
  const form = 'signin';
  return {
    title: 'Sign in',
    problem,
    body: (
      <div class="narrow">
        <h1>Sign in</h1>
        <Form csrf={visit.csrf} action="/signin">
          <FormErrors form={form} problem={problem} shown={['email', 'password']} />
          <input type="hidden" name="next" value={next} />
          <Field form={form} name="email" label="Email" type="email" autocomplete="username" problem={problem} />
          <Field
            form={form}
            name="password"
            label="Password"
            type="password"
            autocomplete="current-password"
            problem={problem}
          />
          <SubmitButton look="primary">Sign in</SubmitButton>
        </Form>
        {resets.areOffered ? (
          <p class="aside">
            <a href="/forgot">Forgot your password?</a>
          </p>
        ) : (
          <details class="more">
            <summary>Forgot your password?</summary>
            <p>
              This hub sends no mail. Ask its operator to run <code>cairn account password --email EMAIL</code> with
              yours. Your keys and signed-in devices work all the time.
            </p>
          </details>
        )}
        {signup === 'closed' ? null : (
          <p class="aside">
            No account yet?{' '}
            <a href={next === '/' ? '/signup' : `/signup?next=${encodeURIComponent(next)}`}>Create one</a>.
          </p>
        )}
      </div>
    ),
  };
}

type SignUpRules = Pick<SignInOptions, 'signup' | 'passwordBytesMin'>;

function signUpView(visit: Visit, next: string, rules: SignUpRules, problem?: Problem): View {
  const { signup, passwordBytesMin } = rules;
  const title = 'Create an account';
  return {
    title,
    problem,
    body: (
      <div class="narrow">
        <h1>{title}</h1>
        {signup === 'closed' ? (
          <p class="lead">Sign-up is closed on this hub. Ask its operator for an account.</p>
        ) : (
          <SignUpForm
            csrf={visit.csrf}
            next={next}
            signup={signup}
            passwordBytesMin={passwordBytesMin}
            invite={visit.request.query.get('invite') ?? ''}
            problem={problem}
          />
        )}
        <p class="aside">
          Have an account? <a href={signInPath(next)}>Sign in</a>.
        </p>
      </div>
    ),
  };
}

interface SignUpFormProps extends SignUpRules {
  readonly csrf: string;
  readonly next: string;
  /** The code from an invitation link. */
  readonly invite: string;
  readonly problem: Problem | undefined;
}

function SignUpForm({ csrf, next, signup, passwordBytesMin, invite, problem }: SignUpFormProps): VNode {
  const form = 'signup';
  return (
    <Form csrf={csrf} action="/signup">
      <FormErrors form={form} problem={problem} shown={['email', 'name', 'password', 'invite_code']} />
      <input type="hidden" name="next" value={next} />
      <Field
        form={form}
        name="email"
        label="Email"
        type="email"
        autocomplete="username"
        {...(signup === 'domains' ? { hint: 'Without an invitation, only addresses of certain domains.' } : {})}
        problem={problem}
      />
      <Field form={form} name="name" label="Name" autocomplete="name" required={false} problem={problem} />
      <Field
        form={form}
        name="password"
        label="Password"
        type="password"
        autocomplete="new-password"
        minlength={passwordBytesMin}
        hint={`At least ${passwordBytesMin} characters. A few random words are easy to remember.`}
        problem={problem}
      />
      {signup === 'open' && invite === '' ? null : (
        <Field
          form={form}
          name="invite_code"
          label="Invitation code"
          required={signup === 'invite'}
          value={invite}
          {...(signup === 'invite' ? { hint: 'New accounts are by invitation. Ask the operator of this hub.' } : {})}
          problem={problem}
        />
      )}
      <SubmitButton look="primary">Create account</SubmitButton>
    </Form>
  );
}
