/** Owns where an act on the board leads back to: the view that its form stood on. Pure. */
import { ownPath } from '../next-path.ts';

/** The view that a form names, without a fragment; the whole board when it names none that has such forms. */
export function backOf(form: URLSearchParams): string {
  const path = ownPath(form.get('back'));
  if (path === '/' && form.has('back')) return form.get('back') === '/' ? '/' : '/tasks';
  return path === '/tasks' || path.startsWith('/tasks?') || path === '/tasks/trash' ? path : '/tasks';
}
