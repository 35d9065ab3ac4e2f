/** The declared routes of all pages. */
import type { Route } from '../../src/http/route/route.ts';
import { type WebOptions, webRoutes } from '../../src/web/routes.ts';

/** A page route as it is declared. */
export interface DeclaredPage {
  readonly method: Route['method'];
  readonly path: string;
  /** It asks for a password that was not entered recently. */
  readonly fresh: boolean;
}

/** Lists the page routes of a service that offers everything. A declaration calls no capability, so none is there. */
export function declaredPages(): DeclaredPage[] {
  const live: Pick<WebOptions['live'], 'route'> = {
    route: (pages) =>
      pages.open('/live', () => {
        throw new Error('no route is called here');
      }),
  };
  const resets = { areOffered: true } as WebOptions['resets'];
  return webRoutes({ live, resets } as WebOptions).map(({ method, path, access }) => ({
    method,
    path,
    fresh: typeof access === 'object' && 'visitor' in access && access.fresh === true,
  }));
}
