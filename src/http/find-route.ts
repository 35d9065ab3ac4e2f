/** Finds the route of a request. For an unknown path requested by a person's browser, this is the "not found" page. */
import { Refusal } from '../common/fault.ts';
import { isForPeople } from './checks/for-people.ts';
import type { RequestHead } from './request/head.ts';
import type { Match, Router } from './route/router.ts';

/** Throws the Refusal of the router when no route has this path, or none with this method. */
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
