/** The page of categories: create, rename, color, delete and restore them. */

import type { VNode } from 'preact';
import { readFields } from '../../fields/read.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Category } from '../../tasks/categories.ts';
import { declaredCategory } from '../../tasks/declared.ts';
import { categoryChange, newCategory } from '../../tasks/fields.ts';
import type { BinnedCategory } from '../../tasks/records.ts';
import { countWithNoun } from '../../text/count.ts';
import type { Capabilities } from '../capabilities.ts';
import { Checkbox, Field, FormErrors, type Problem } from '../fields.tsx';
import { OtherFields, otherFormFields, readOtherFields } from '../other-fields.tsx';
import type { MemberVisit, PageAnswer, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { Confirm, Empty, Form, Moment, SubmitButton } from '../ui.tsx';
import { CategoryChip } from './card.tsx';
import { readTaskId } from './filter.ts';

const PATH = '/tasks/categories';
/** Initial value of the color field of a new category: browsers have no empty color. */
const FIRST_COLOR = '#1d6b59';

/** Fields of a category that the forms have no control of their own for. Only agents set the position. */
const OTHER_FIELDS = declaredCategory.inputsBeside(['name', 'color', 'position']);

interface CategoryOptions extends Pick<Capabilities, 'tasks'> {
  readonly pages: Pages;
}

export function categoryRoutes(options: CategoryOptions): Route[] {
  const { pages, tasks } = options;
  const idOf = ({ request }: MemberVisit) => readTaskId(request.params['category']);
  return [
    pages.member(PATH, (visit) => show(options, visit)),
    pages.memberForm(PATH, async (visit, form) => {
      const made = await problemOf('new', Object.fromEntries(form), () =>
        tasks.categories.create(visit.accountId, readFields(newCategory, documentOf(form, 'new'))),
      );
      if (!made.ok) return show(options, visit, made.problem);
      const action = `${PATH}/${made.value.id}/delete`;
      return pages.go(visit, PATH, { text: 'Category created.', undo: { label: 'Undo', action } });
    }),
    pages.memberForm(`${PATH}/:category`, async (visit, form) => {
      const before = tasks.categories.get(visit.accountId, idOf(visit));
      const saved = await problemOf(`edit-${before.id}`, Object.fromEntries(form), () =>
        tasks.categories.patch(visit.accountId, before.id, readFields(categoryChange, documentOf(form, 'change'))),
      );
      if (!saved.ok) return show(options, visit, saved.problem);
      if (form.get('undo') === 'true') return pages.go(visit, PATH, { text: 'Undone.' });
      const fields = {
        ...otherFormFields(OTHER_FIELDS, before),
        undo: 'true',
        name: before.name,
        ...(before.color === null ? {} : { has_color: 'true', color: before.color }),
      };
      const action = `${PATH}/${before.id}`;
      return pages.go(visit, PATH, { text: 'Category saved.', undo: { label: 'Undo', action, fields } });
    }),
    pages.memberForm(`${PATH}/:category/delete`, async (visit) => {
      const { id } = await tasks.categories.remove(visit.accountId, idOf(visit));
      const undo = { label: 'Undo', action: `${PATH}/${id}/restore` };
      return pages.go(visit, PATH, { text: 'Category deleted. Its tasks are still on the board.', undo });
    }),
    pages.memberForm(`${PATH}/:category/restore`, async (visit) => {
      const id = idOf(visit) ?? 0;
      const restored = await problemOf(`restore-${id}`, {}, () =>
        tasks.categories.patch(visit.accountId, id, {}, true),
      );
      if (!restored.ok) return show(options, visit, restored.problem);
      return pages.go(visit, PATH, { text: 'Category restored.' });
    }),
  ];
}

function documentOf(form: URLSearchParams, forWhat: 'new' | 'change'): Record<string, unknown> {
  return {
    ...readOtherFields(OTHER_FIELDS, form, forWhat),
    name: form.get('name') ?? '',
    color: form.get('has_color') === 'true' ? form.get('color') : null,
  };
}

function show({ pages, tasks }: CategoryOptions, visit: MemberVisit, problem?: Problem): PageAnswer {
  const categories = tasks.categories.list(visit.accountId);
  const deleted = tasks.categories.deleted(visit.accountId);
  return pages.show(visit, {
    title: 'Categories',
    section: 'tasks',
    live: ['tasks'],
    problem,
    body: (
      <>
        <div class="intro">
          <nav class="crumbs" aria-label="Breadcrumb">
            <a href="/tasks">Tasks</a>
          </nav>
          <h1>Categories</h1>
        </div>
        <section class="panel" aria-labelledby="new-category">
          <h2 id="new-category">New category</h2>
          <Form csrf={visit.csrf} action={PATH} class="inline-form">
            <CategoryFields form="new" category={undefined} problem={problem} />
            <SubmitButton look="primary">Create</SubmitButton>
          </Form>
        </section>
        {categories.length === 0 ? (
          <Empty title="No categories yet">
            <p>Categories sort tasks by project or place. Agents use the same ones.</p>
          </Empty>
        ) : (
          <section class="panel" aria-label="Your categories">
            <ul class="rows">
              {categories.map((category) => (
                <Row key={category.id} category={category} visit={visit} problem={problem} />
              ))}
            </ul>
          </section>
        )}
        {deleted.length === 0 ? null : (
          <section class="panel" aria-labelledby="deleted-categories">
            <h2 id="deleted-categories">Trash</h2>
            <p class="hint">
              Restore brings a category back with its tasks and papers, for {limits.binDays} days after it was deleted.
            </p>
            <ul class="rows">
              {deleted.map((category) => (
                <Deleted key={category.id} category={category} visit={visit} problem={problem} />
              ))}
            </ul>
          </section>
        )}
      </>
    ),
  });
}

interface RowProps<C> {
  readonly category: C;
  readonly visit: MemberVisit;
  readonly problem: Problem | undefined;
}

function Row({ category, visit, problem }: RowProps<Category>): VNode {
  const { id, name, task_count: count } = category;
  const form = `edit-${id}`;
  return (
    <li class="row" id={`category-${id}`}>
      <p class="row-main">
        <a href={`/tasks?category=${id}`}>
          <CategoryChip category={category} />
        </a>{' '}
        <span class="meta">{countWithNoun(count, 'task')}</span>
      </p>
      <details class="more" open={problem?.form === form}>
        <summary class="button small">
          Edit<span class="sr-only"> {name}</span>
        </summary>
        <Form csrf={visit.csrf} action={`${PATH}/${id}`} class="inline-form">
          <CategoryFields form={form} category={category} problem={problem} />
          <SubmitButton>Save</SubmitButton>
        </Form>
      </details>
      <Confirm label="Delete…" of={name}>
        <p>Its tasks stay, without a category. For {limits.binDays} days you can restore it.</p>
        <Form csrf={visit.csrf} action={`${PATH}/${id}/delete`}>
          <SubmitButton look="danger">Delete category</SubmitButton>
        </Form>
      </Confirm>
    </li>
  );
}

function Deleted({ category, visit, problem }: RowProps<BinnedCategory>): VNode {
  const { id, name, deleted_at: at } = category;
  const form = `restore-${id}`;
  return (
    <li class="row">
      <p class="row-main">
        <CategoryChip category={category} />{' '}
        <span class="meta">
          Deleted <Moment at={at} zone={visit.zone} />
        </span>
      </p>
      <Form csrf={visit.csrf} action={`${PATH}/${id}/restore`} class="inline-form">
        <FormErrors form={form} problem={problem} shown={[]} />
        <SubmitButton look="small">
          Restore<span class="sr-only"> {name}</span>
        </SubmitButton>
      </Form>
    </li>
  );
}

interface CategoryFieldsProps {
  readonly form: string;
  /** Undefined for a new one. */
  readonly category: Category | undefined;
  readonly problem: Problem | undefined;
}

function CategoryFields({ form, category, problem }: CategoryFieldsProps): VNode {
  return (
    <>
      <FormErrors form={form} problem={problem} shown={['name', 'color']} />
      <Field form={form} name="name" label="Name" value={category?.name} problem={problem} />
      <Field
        form={form}
        name="color"
        label="Color"
        type="color"
        isPlain
        required={false}
        value={category?.color ?? FIRST_COLOR}
        problem={problem}
      />
      <Checkbox
        form={form}
        name="has_color"
        label="Show the color"
        checked={category === undefined || category.color !== null}
        problem={problem}
      />
      <OtherFields form={form} inputs={OTHER_FIELDS} record={category} problem={problem} />
    </>
  );
}
