/** Documents the routes of papers for OpenAPI. */
import { jsonSchema } from '../../fields/json-schema.ts';
import { counted } from '../../fields/kinds.ts';
import {
  type AnswerDoc,
  jsonContent,
  type ParameterDoc,
  parametersOf,
  type RouteDoc,
  type Schema,
} from '../../http/route/doc.ts';
import { limits } from '../../limits/service.ts';
import * as fields from './fields.ts';
import { paperPageSchema, paperWithContent } from './views.ts';

const paper: Schema = { title: 'Paper', ...jsonSchema(paperWithContent, 'output') };
const newPaper: Schema = { title: 'NewPaper', ...jsonSchema(fields.newPaper, 'input') };
const paperChange: Schema = { title: 'PaperChange', ...jsonSchema(fields.paperChange, 'input') };
const publication: Schema = { title: 'Publication', ...jsonSchema(fields.publication, 'input') };
const page: Schema = { title: 'PaperPage', ...jsonSchema(paperPageSchema, 'output') };

const { content: TEXT, ...FACTS } = {
  id: 3,
  title: 'On cairns',
  content: '# On cairns\n\nThey mark the way.\n',
  category_id: null,
  published: false,
  published_at: null,
  version: 1,
  size_bytes: 32,
  created_at: '2026-11-20T20:18:57.123Z',
  updated_at: '2026-11-20T20:18:57.123Z',
  changed_by: 'laptop',
};
const PAPER = { ...FACTS, content: TEXT };

const paperId: readonly ParameterDoc[] = [
  { name: 'id', in: 'path', description: 'Id of the paper', schema: jsonSchema(counted, 'input'), example: 3 },
];

const PAPERS = { tag: 'papers', security: ['AccessToken'] } as const;
const onePaper: AnswerDoc = { description: 'The paper', content: jsonContent(paper, PAPER) };

export const paperOperations = {
  list: {
    ...PAPERS,
    operationId: 'papersList',
    summary: 'Lists a page of papers, newest first',
    description: 'Filters are combined with AND; the trash is excluded.',
    parameters: parametersOf('query', fields.pageQuery),
    answers: {
      200: {
        description: 'A page',
        content: jsonContent(page, { data: [FACTS], meta: { limit: 25, has_more: false, cursor: null } }),
      },
    },
    refusals: [422],
  },
  create: {
    ...PAPERS,
    operationId: 'papersCreate',
    summary: 'Creates a paper, as a draft unless it is to be published',
    request: { required: true, ...jsonContent(newPaper, { title: FACTS.title, content: TEXT }) },
    answers: { 201: { ...onePaper, headers: ['Location'] } },
    refusals: [422],
  },
  get: {
    ...PAPERS,
    operationId: 'papersGet',
    summary: 'One paper with its content',
    parameters: paperId,
    answers: { 200: onePaper },
    refusals: [404],
  },
  change: {
    ...PAPERS,
    operationId: 'papersUpdate',
    summary: 'Updates the given fields of a paper',
    description: 'With expected_version it is refused when somebody else changed the content in between.',
    parameters: paperId,
    request: { required: true, ...jsonContent(paperChange, { content: `${TEXT}\nMore.\n`, expected_version: 1 }) },
    answers: { 200: onePaper },
    refusals: [404, 409, 422],
  },
  publish: {
    ...PAPERS,
    operationId: 'papersPublish',
    summary: 'Publishes a paper, or turns it back into a draft',
    parameters: paperId,
    request: { required: true, ...jsonContent(publication, { published: true }) },
    answers: { 200: onePaper },
    refusals: [404, 422],
  },
  remove: {
    ...PAPERS,
    operationId: 'papersDelete',
    summary: 'Moves a paper to the trash',
    description: `For ${limits.binDays} days a PATCH with restore brings it back.`,
    parameters: paperId,
    answers: { 204: { description: 'It is in the trash' } },
    refusals: [404],
  },
} as const satisfies Record<string, RouteDoc>;
