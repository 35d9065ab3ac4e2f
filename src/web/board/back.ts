/** Decides where an action on the board redirects to: the view that contained its form. Pure. */
import { ownPath } from '../next-path.ts';

/** The view named by a form, without a fragment; the whole board when it names no view with such forms. */
export function backOf(form: URLSearchParams): string {
  const path = ownPath(form.get('back'));
  if (path === '/' && form.has('back')) return form.get('back') === '/' ? '/' : '/tasks';
  return path === '/tasks' || path.startsWith('/tasks?') || path === '/tasks/trash' ? path : '/tasks';
}
