/** The part of the settings page for two-factor sign-in, and its forms. */
import type { VNode } from 'preact';
import { Refusal } from '../../common/fault.ts';
import type { Route } from '../../http/route/route.ts';
import type { Capabilities } from '../capabilities.ts';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import { type MemberVisit, type Pages, SECOND_FACTOR_PATH, type View } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Confirm, Form, SubmitButton } from '../ui.tsx';
import { QrCode } from './qr.tsx';

const PATH = SECOND_FACTOR_PATH;

export interface SecondFactorOptions extends Pick<Capabilities, 'secondFactors' | 'logins'> {
  readonly pages: Pages;
}

export function secondFactorRoutes({ pages, secondFactors, logins }: SecondFactorOptions): Route[] {
  const setUp = (visit: MemberVisit, problem?: Problem) => {
    const made = secondFactors.pending(visit.accountId, visit.email);
    if (made !== undefined) return pages.show(visit, setUpView(visit, made, problem));
    return secondFactors.mustSetUp(visit.accountId)
      ? pages.show(visit, requiredView(visit))
      : pages.go(visit, '/settings');
  };
  const shown = (text: string, codes: readonly string[]) => ({
    text,
    secrets: [{ label: 'Recovery codes', value: codes.join('\n'), file: 'cairn-recovery-codes.txt' }],
  });
  return [
    pages.member(PATH, (visit) => setUp(visit)),
    pages.memberForm(
      PATH,
      async (visit) => {
        await secondFactors.begin(visit.accountId, visit.email);
        return pages.go(visit, PATH);
      },
      { fresh: true },
    ),
    pages.memberForm(`${PATH}/confirm`, async (visit, form) => {
      const code = form.get('code') ?? '';
      const tried = await problemOf('code', {}, () => secondFactors.confirm(visit.accountId, code, visit.source));
      if (!tried.ok) return setUp(visit, tried.problem);
      const text = 'Two-factor sign-in is on. Keep these recovery codes: each signs you in once without your app.';
      return pages.go(visit, '/settings', shown(text, tried.value));
    }),
    pages.memberForm(
      `${PATH}/codes`,
      async (visit) => {
        const codes = await secondFactors.renewRecoveryCodes(visit.accountId, visit.source);
        return pages.go(visit, '/settings', shown('The earlier recovery codes no longer work. Keep these.', codes));
      },
      { fresh: true },
    ),
    pages.memberForm(`${PATH}/off`, async (visit, form) => {
      const { accountId, source } = visit;
      if (secondFactors.isRequired(accountId)) {
        return pages.go(visit, '/settings', {
          text: 'This hub requires two-factor sign-in. It stays on.',
          tone: 'bad',
        });
      }
      const password = form.get('password') ?? '';
      if (!(await logins.isPassword({ accountId, password, source }))) {
        return pages.go(visit, '/settings', {
          text: 'Wrong password. Two-factor sign-in is still on.',
          tone: 'bad',
        });
      }
      try {
        await secondFactors.turnOff(accountId, source);
      } catch (error) {
        // Already turned off, for example in another window.
        if (!(error instanceof Refusal) || error.fault.kind !== 'not_found') throw error;
      }
      return pages.go(visit, '/settings', { text: 'Two-factor sign-in is off.' });
    }),
  ];
}

function requiredView(visit: MemberVisit): View {
  return {
    title: 'Set up two-factor sign-in',
    section: 'settings',
    body: (
      <div class="narrow wide">
        <h1>Set up two-factor sign-in</h1>
        <p class="lead">
          This hub requires it. You need an authenticator app, for example on your phone. Everything else is available
          again afterwards.
        </p>
        <Form csrf={visit.csrf} action={PATH}>
          <SubmitButton look="primary">Set up an authenticator app</SubmitButton>
        </Form>
      </div>
    ),
  };
}

function setUpView(
  visit: MemberVisit,
  made: { readonly secret: string; readonly uri: string },
  problem?: Problem,
): View {
  const form = 'code';
  return {
    title: 'Turn on two-factor sign-in',
    isSecret: true,
    section: 'settings',
    problem,
    body: (
      <div class="narrow wide">
        <h1>Turn on two-factor sign-in</h1>
        <p class="lead">Scan this with your authenticator app, then enter the code that the app shows.</p>
        <QrCode text={made.uri} label="QR code for an authenticator app" />
        <p>
          Or type this key into the app: <code>{made.secret.match(/.{1,4}/g)?.join(' ')}</code>
        </p>
        <p>
          <a href={made.uri}>Open in an app on this device</a>
        </p>
        <Form csrf={visit.csrf} action={`${PATH}/confirm`}>
          <FormErrors form={form} problem={problem} shown={['code']} />
          <Field form={form} name="code" label="Code" autocomplete="one-time-code" problem={problem} />
          <SubmitButton look="primary">Turn on</SubmitButton>
        </Form>
      </div>
    ),
  };
}

export function SecondFactor({
  visit,
  secondFactors,
}: { visit: MemberVisit } & Pick<SecondFactorOptions, 'secondFactors'>): VNode {
  const { isOn, recoveryCodes } = secondFactors.stateOf(visit.accountId);
  return (
    <section class="panel" aria-labelledby="second-factor">
      <h2 id="second-factor">Two-factor sign-in</h2>
      <p class="lead">
        Signing in with your password also asks for a code from your authenticator app. Keys and signed-in devices don’t
        need one.
      </p>
      {isOn ? (
        <>
          <p>
            On. {recoveryCodes} recovery {recoveryCodes === 1 ? 'code' : 'codes'} left.
          </p>
          <Form csrf={visit.csrf} action={`${PATH}/codes`}>
            <SubmitButton>Replace the recovery codes</SubmitButton>
          </Form>
          {secondFactors.isRequired(visit.accountId) ? (
            <p>This hub requires it.</p>
          ) : (
            <Confirm label="Turn off…">
              <p>After this, your password alone signs you in.</p>
              <Form csrf={visit.csrf} action={`${PATH}/off`}>
                <Field
                  form="second-factor"
                  name="password"
                  label="Your password"
                  type="password"
                  autocomplete="current-password"
                />
                <SubmitButton look="danger">Turn off two-factor sign-in</SubmitButton>
              </Form>
            </Confirm>
          )}
        </>
      ) : (
        <Form csrf={visit.csrf} action={PATH}>
          <SubmitButton>Set up an authenticator app</SubmitButton>
        </Form>
      )}
    </section>
  );
}
