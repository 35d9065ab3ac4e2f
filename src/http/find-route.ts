/** Owns which route a request takes: that of its path, or the page of a person's browser where no route exists. */
import { Refusal } from '../common/fault.ts';
import { isForPeople } from './checks/for-people.ts';
import type { RequestHead } from './request/head.ts';
import type { Match, Router } from './route/router.ts';

/** Throws the Refusal of the router when the path has no route, or not with this method. */
export function findRoute(router: Router, head: RequestHead): Match {
  try {
    return router.match(head.method, head.path);
  } catch (error) {
    const { nothing } = router;
    const isUnknown = error instanceof Refusal && error.fault.kind === 'route_unknown';
    if (nothing === undefined || !isUnknown || !isForPeople(head)) throw error;
    return { route: nothing, params: {} };
  }
}
