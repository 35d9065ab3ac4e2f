/** The page that shows text sent after its session had ended. */
import type { VNode } from 'preact';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { TextArea } from '../fields.tsx';
import { DRAFT_PATH, type Draft, type Drafts, WRITTEN } from '../forms/drafts.ts';
import type { Pages } from '../pages.ts';
import { Fact, Form, Given, SubmitButton } from '../ui.tsx';
import type { MemberVisit } from '../visit.ts';

export function draftRoute(pages: Pages, drafts: Drafts): Route {
  return pages.member(`${DRAFT_PATH}/:id`, (visit) => {
    const draft = drafts.find(visit.accountId, visit.request.params['id'] ?? '');
    return pages.show(visit, { title: 'Your unsaved text', body: <DraftPage visit={visit} draft={draft} /> });
  });
}

function DraftPage({ visit, draft }: { readonly visit: MemberVisit; readonly draft: Draft }): VNode {
  const content = draft.fields.find(([name]) => name === 'content')?.[1];
  const facts = draft.fields.filter(([name, value]) => name !== 'content' && name in WRITTEN && value !== '');
  return (
    <>
      <div class="intro">
        <h1>Your unsaved text</h1>
        <p class="lead">
          You were signed out before this form was sent, so nothing was saved. Check the text, then send it again. It is
          kept here for {limits.draftSeconds / 60} minutes.
        </p>
      </div>
      <section class="panel" aria-label="Unsaved text">
        <Form csrf={visit.csrf} action={draft.action} draft="" class="stack whole">
          {facts.length === 0 ? null : (
            <dl class="facts-list">
              {facts.map(([name, value]) => (
                <Fact key={name} name={WRITTEN[name] ?? name}>
                  <Given>{value}</Given>
                </Fact>
              ))}
            </dl>
          )}
          {draft.fields.map(([name, value], at) =>
            name === 'content' ? null : <input key={at} type="hidden" name={name} value={value} />,
          )}
          {content === undefined ? null : (
            <TextArea
              form="draft"
              name="content"
              label="Content"
              class="code"
              rows={20}
              required={false}
              isPlain
              value={content}
            />
          )}
          <div class="actions">
            <SubmitButton look="primary">Send again</SubmitButton>
            <a class="button" href="/">
              Cancel
            </a>
          </div>
        </Form>
      </section>
    </>
  );
}
