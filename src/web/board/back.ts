/** Owns where an act on the board leads back to: the view that its form stood on. Pure. */
import { ownPath } from '../next-path.ts';

/** The view that a form names, without a fragment; the whole board when it names none of the board's own. */
export function backOf(form: URLSearchParams): string {
  const path = ownPath(form.get('back'));
  return path === '/tasks' || path.startsWith('/tasks?') || path === '/tasks/trash' ? path : '/tasks';
}
