/** The part of the settings page to delete the account. */
import type { VNode } from 'preact';
import { Field, FormErrors, type Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { Confirm, Form } from '../ui.tsx';

interface DeleteAccountProps {
  readonly visit: MemberVisit;
  readonly problem: Problem | undefined;
}

export function DeleteAccount({ visit, problem }: DeleteAccountProps): VNode {
  const form = 'delete';
  return (
    <section class="panel" aria-labelledby="delete-account">
      <h2 id="delete-account">Delete account</h2>
      <p class="lead">
        Permanently deletes your account with its keys, tasks, documents, files and blobs. It cannot be undone.
      </p>
      <FormErrors form={form} problem={problem} shown={[]} />
      <Confirm label="Delete my account…">
        <Form csrf={visit.csrf} action="/settings/delete">
          <Field form={form} name="password" label="Your password" type="password" autocomplete="current-password" />
          <button class="button danger" type="submit">
            Delete everything
          </button>
        </Form>
      </Confirm>
    </section>
  );
}
