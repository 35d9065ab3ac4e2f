/** Builds the URI of a paper as a resource. */

export const PAPER_TEMPLATE = 'cairn://papers/{id}';

export function paperUri(id: number): string {
  return `cairn://papers/${id}`;
}
