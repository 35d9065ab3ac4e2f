/** The credentials of CI jobs, which only upload or only download: made, and revoked one at a time. */
import type { VNode } from 'preact';
import { readFields } from '../../fields/read.ts';
import type { Route } from '../../http/route/route.ts';
import { newUploader } from '../../mirror/fields.ts';
import type { Uploader, Uploaders } from '../../mirror/uploaders.ts';
import { Field, FormErrors, type Problem, Select } from '../fields.tsx';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Confirm, Form, Given, Moment, SubmitButton } from '../ui.tsx';

interface UploaderFormsOptions {
  readonly pages: Pages;
  readonly uploaders: Uploaders;
  readonly view: (visit: MemberVisit, problem: Problem) => View;
}

const FORM = 'uploader';
const MAY = { upload: 'upload', download: 'list and download' } as const;

export function uploaderForms({ pages, uploaders, view }: UploaderFormsOptions, path: string): Route[] {
  return [
    pages.memberForm(
      `${path}/uploaders`,
      async (visit, form) => {
        const given = { name: form.get('name') ?? '', access: form.get('access') ?? 'upload' };
        const tried = await problemOf(FORM, given, () =>
          uploaders.create(visit.accountId, readFields(newUploader, given), visit.source),
        );
        if (!tried.ok) return pages.show(visit, view(visit, tried.problem));
        const { token, hmac_secret: secret, access } = tried.value;
        const hint = `In CI, set it as CAIRN_MIRROR_TOKEN. It can only ${MAY[access]}.`;
        return pages.go(visit, path, {
          text: `Credential created. Copy its ${secret === null ? 'token' : 'token and secret'} now: you won’t see this again.`,
          secrets: [
            { label: 'Token', value: token, hint },
            ...(secret === null
              ? []
              : [{ label: 'Secret', value: secret, hint: 'In CI, set it as CAIRN_MIRROR_SECRET.' }]),
          ],
        });
      },
      { fresh: true },
    ),
    pages.memberForm(`${path}/uploaders/revoke`, async (visit, form) => {
      await uploaders.revoke(visit.accountId, form.get('id') ?? '', visit.source);
      return pages.go(visit, path, { text: 'Credential revoked. All archives stay readable.' });
    }),
  ];
}

interface UploaderListProps {
  readonly visit: MemberVisit;
  readonly path: string;
  readonly uploaders: readonly Uploader[];
  readonly problem: Problem | undefined;
}

export function UploaderList({ visit: { csrf, zone }, path, uploaders, problem }: UploaderListProps): VNode {
  return (
    <section class="panel" aria-labelledby="uploaders">
      <h2 id="uploaders">Credentials for CI</h2>
      <p class="lead">
        Each can only upload, or only list and download: a job never needs both. None can remove backups. Revoking one
        leaves all archives readable.
      </p>
      <ul class="rows">
        {uploaders.map(({ id, name, access, created_at: at }) => (
          <li key={id} class="row">
            <div class="row-main">
              <Given>{name}</Given>
              <p class="meta">
                can {MAY[access]}, since <Moment at={at} zone={zone} />
              </p>
            </div>
            <Confirm label="Revoke…">
              <p>Its token stops working immediately. All archives stay readable.</p>
              <Form csrf={csrf} action={`${path}/uploaders/revoke`}>
                <input type="hidden" name="id" value={id} />
                <SubmitButton look="danger">Revoke</SubmitButton>
              </Form>
            </Confirm>
          </li>
        ))}
      </ul>
      <Form csrf={csrf} action={`${path}/uploaders`}>
        <FormErrors form={FORM} problem={problem} shown={['name', 'access']} />
        <Field form={FORM} name="name" label="Name" placeholder="github-actions" problem={problem} />
        <Select
          form={FORM}
          name="access"
          label="It can"
          value="upload"
          options={Object.entries(MAY).map(([value, label]) => ({ value, label }))}
          problem={problem}
        />
        <div>
          <SubmitButton>Create for CI</SubmitButton>
        </div>
      </Form>
    </section>
  );
}
