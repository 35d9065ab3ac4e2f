/** Opens the sign-in with a password: its guard against guessing, the second factor, and mail to reset the password. */
import { Logins } from '../accounts/logins.ts';
import { Onboarding } from '../accounts/onboarding.ts';
import { Passwords } from '../accounts/password.ts';
import { isSecondFactorRequired } from '../accounts/rules.ts';
import { checkBreachedFile } from '../accounts/sign-in/breached-passwords.ts';
import { BrowserMarks } from '../accounts/sign-in/browser-mark.ts';
import { SignInGuard } from '../accounts/sign-in/guard.ts';
import { SignInLetters } from '../accounts/sign-in/letters.ts';
import { PasswordResets } from '../accounts/sign-in/password-reset.ts';
import { SecondFactors } from '../accounts/sign-in/second-factor.ts';
import { SignUps, type SignupRule } from '../accounts/sign-up/sign-ups.ts';
import { Leaving } from '../accounts/standing/leaving.ts';
import type { Log } from '../common/log.ts';
import { StartError } from '../common/start-error.ts';
import { systemReason } from '../common/system-reason.ts';
import type { Config } from '../config.ts';
import type { Rates } from '../http/checks/rates.ts';
import type { Mail } from '../mail/mailer.ts';
import type { Pool } from '../pool/pool.ts';
import type { Core } from './core.ts';

export interface SignInInput {
  readonly config: Config;
  readonly core: Core;
  readonly pool: Pool;
  readonly rates: Rates;
  readonly mail: Mail | undefined;
  readonly rule: SignupRule;
  readonly log: Log;
}

export interface SignInParts {
  readonly logins: Logins;
  readonly onboarding: Onboarding;
  readonly leaving: Leaving;
  readonly marks: BrowserMarks;
  readonly letters: SignInLetters;
  readonly secondFactors: SecondFactors;
  readonly resets: PasswordResets;
}

/** Throws StartError when the file of breached passwords cannot be used. */
function checkBreached({ breachedPasswords: file }: Config): void {
  if (file === undefined) return;
  try {
    checkBreachedFile(file);
  } catch (error) {
    throw new StartError(`CAIRN_BREACHED_PASSWORDS (${file}) cannot be used: ${systemReason(error)}`);
  }
}

/** Whether the operator of the hub requires a second factor of an account. */
function requirementOf({ requireSecondFactor: rule }: Config, { standings }: Core): (accountId: string) => boolean {
  return (accountId) => isSecondFactorRequired(rule, { isOperator: standings.isOperator(accountId) });
}

export function openSignIn({ config, core, pool, rates, mail, rule, log }: SignInInput): SignInParts {
  const now = Date.now;
  checkBreached(config);
  const passwords = new Passwords(pool, config);
  const countSignIn = (address: string) => rates.countSignIn('address', address);
  const marks = new BrowserMarks((purpose, value) => core.sealer.keyedHash(purpose, value));
  const isOn = config.signInsPerMinute > 0;
  const later = (run: () => void, ms: number) => void setTimeout(run, ms).unref();
  const guard = new SignInGuard({ isOn, countSignIn, now, later });
  const logins = new Logins({ ...core, passwords, guard, marks, now });
  const secondFactors = new SecondFactors({ ...core, isRequired: requirementOf(config, core), now });
  const letters = new SignInLetters(mail, config.publicUrl ?? '', now);
  const resets = new PasswordResets({ ...core, passwords, letters, log, countSignIn, now });
  const signUps = new SignUps({ ...core, rule, perDay: config.signUpsPerDay, now });
  const shared = { accounts: core.accounts, audit: core.audit, passwords, secondFactors, letters };
  const { isLocalOnly } = config;
  const onboarding = new Onboarding({ ...shared, logins, signUps, countSignIn, isLocalOnly, now });
  const leaving = new Leaving({ ...core, logins });
  return { logins, leaving, onboarding, marks, letters, secondFactors, resets };
}
