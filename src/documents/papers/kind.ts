/** Declares papers as a kind of documents: lists by state and category, versions, publication. */
import { z } from 'zod';
import { whole } from '../../archive/records.ts';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { defineKind, indexRow } from '../kind.ts';
import { checkNumber } from '../rules.ts';
import { measure } from '../texts.ts';
import { declaredPaper, type PaperRecord } from './declared.ts';
import { type PaperHead, paperHeads, paperRows, papers } from './records.ts';
import { scopesOfPaper } from './rules.ts';

export const paperKind = defineKind({
  space: 'papers',
  one: 'paper',
  records: papers,
  heads: paperHeads,
  lastId: ({ paper_id: last }: PaperHead) => last,
  nameOf: ({ title }: PaperRecord) => title,
  fields: Object.keys(declaredPaper.inputs),
  keeps: limits.documentVersionsMax,
  factsOf: measure,
  rowsOf: (accountId, paper: PaperRecord) =>
    scopesOfPaper(paper).map((scope) =>
      indexRow(paperRows, [accountId, scope, paper.id], {}, `is not in list ${scope}`),
    ),
  indexes: { 'lists of papers': paperRows },
  checkShared: (_reader, problems) => ({
    check(name, _accountId, { published, published_at: at }) {
      if (published !== (at !== null)) problems.push(`${name}: its state contradicts its time`);
    },
  }),
  archive: {
    section: 'papers',
    type: 'paper',
    counters: () => z.strictObject({ paper_id: whole }),
    line: (instant) => declaredPaper.archivedAs('paper', instant),
    order: ({ id }) => id,
    countersOf: (head, { id }) => ({ paper_id: Math.max(head?.paper_id ?? 0, id) }),
    headOf: ({ paper_id }) => ({ paper_id }),
    /** A deleted category is exported as null. */
    lineOf(paper, hasCategory) {
      const isGone = paper.category_id !== null && !hasCategory(paper.category_id);
      return isGone ? { ...paper, category_id: null } : paper;
    },
    read(paper, { last, head }, hasCategory) {
      checkNumber(paper.id, last, head.paper_id);
      if (paper.category_id !== null && !hasCategory(paper.category_id)) {
        throw invalidField('category_id', 'category_id is not a category of the archive');
      }
      if (paper.published !== (paper.published_at !== null))
        throw invalidField('published_at', 'published contradicts published_at');
      return paper;
    },
  },
});
