/** Declares the REST operations of papers. */
import type { CallerName } from '../../common/principal.ts';
import { asksToRestore } from '../../fields/asks-to-restore.ts';
import { operation, recordId } from '../../http/route/operation.ts';
import type { Authenticator, Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { declaredPaper } from './declared.ts';
import { newPaper, pageQuery, paperChange, publication } from './fields.ts';
import type { Papers, ShownPaper } from './service.ts';
import { paperPageSchema, paperView, paperWithContent } from './views.ts';

export interface PaperRoutesOptions {
  readonly papers: Papers;
  /** Accepts access tokens. */
  readonly access: Authenticator;
  readonly nameOf: CallerName;
}

const PAPERS = '/api/papers';

const FACTS = declaredPaper.example;
const TEXT = '# On cairns\n\nThey mark the way.\n';

const onePaper = {
  description: 'The paper',
  schema: paperWithContent.meta({ title: 'Paper' }),
  example: { ...FACTS, content: TEXT },
};

export function paperRoutes(options: PaperRoutesOptions): Route[] {
  return [...paperListRoutes(options), ...onePaperRoutes(options)];
}

function paperListRoutes({ papers, access, nameOf }: PaperRoutesOptions): Route[] {
  const all = { path: PAPERS, tag: 'papers', access } as const;
  return [
    operation({
      ...all,
      method: 'GET',
      operationId: 'papersList',
      summary: 'Lists a page of papers, newest first',
      description: 'Filters are combined with AND; the trash is excluded.',
      query: pageQuery,
      answer: {
        description: 'A page',
        schema: paperPageSchema.meta({ title: 'PaperPage' }),
        example: { data: [FACTS], meta: { limit: 25, has_more: false, cursor: null } },
      },
      handle({ query }, { accountId }) {
        const { papers: found, cursor } = papers.list(accountId, query);
        return {
          data: found.map(paperView),
          meta: { limit: query.limit, has_more: cursor !== undefined, cursor: cursor ?? null },
        };
      },
    }),
    operation({
      ...all,
      method: 'POST',
      operationId: 'papersCreate',
      summary: 'Creates a paper, as a draft unless it is to be published',
      body: newPaper.meta({ title: 'NewPaper' }),
      bytesMax: limits.paperBodyBytesMax,
      example: { title: FACTS.title, content: TEXT },
      answer: { status: 201, ...onePaper },
      location: ({ id }) => `${PAPERS}/${id}`,
      readBody: (given, { accountId }) => papers.read(accountId, newPaper, given),
      handle: async ({ body }, by) => wholePaper(await papers.create(by.accountId, body, nameOf(by))),
    }),
  ];
}

function onePaperRoutes({ papers, access, nameOf }: PaperRoutesOptions): Route[] {
  const one = { path: `${PAPERS}/:id`, tag: 'papers', access, params: { id: recordId('paper', 3) } } as const;
  return [
    operation({
      ...one,
      method: 'GET',
      operationId: 'papersGet',
      summary: 'One paper with its content',
      answer: onePaper,
      handle: ({ params: { id } }, { accountId }) => wholePaper(papers.get(accountId, id)),
    }),
    operation({
      ...one,
      method: 'PATCH',
      operationId: 'papersUpdate',
      summary: 'Updates the given fields of a paper',
      description: 'With expected_version it is refused when somebody else changed the content in between.',
      body: paperChange.meta({ title: 'PaperChange' }),
      bytesMax: limits.paperBodyBytesMax,
      example: { content: `${TEXT}\nMore.\n`, expected_version: 1 },
      answer: onePaper,
      refusals: [409],
      readBody: (given, { accountId }) => papers.read(accountId, paperChange, given),
      async handle(call, by) {
        const id = papers.existing(by.accountId, call.params.id, asksToRestore(call.request.document));
        return wholePaper(await papers.patch(by.accountId, id, call.body, nameOf(by)));
      },
    }),
    operation({
      ...one,
      method: 'PATCH',
      path: `${PAPERS}/:id/publish`,
      operationId: 'papersPublish',
      summary: 'Publishes a paper, or turns it back into a draft',
      body: publication.meta({ title: 'Publication' }),
      example: { published: true },
      answer: onePaper,
      async handle(call, by) {
        const id = papers.existing(by.accountId, call.params.id);
        return wholePaper(await papers.patch(by.accountId, id, call.body, nameOf(by)));
      },
    }),
    operation({
      ...one,
      method: 'DELETE',
      operationId: 'papersDelete',
      summary: 'Moves a paper to the trash',
      description: `For ${limits.binDays} days a PATCH with restore brings it back.`,
      answer: { status: 204, description: 'It is in the trash' },
      async handle({ params: { id } }, by) {
        await papers.remove(by.accountId, id, nameOf(by));
      },
    }),
  ];
}

function wholePaper(shown: ShownPaper) {
  return { ...paperView(shown), content: shown.content ?? '' };
}
