/** Finds the route of a path and method. Pure: one lookup per path segment. */
import { Refusal } from '../../common/fault.ts';
import type { Route } from './route.ts';

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | undefined;
  readonly methods: Map<string, NamedRoute>;
}

interface NamedRoute {
  readonly route: Route;
  /** Names of the `:name` segments, in order. */
  readonly names: readonly string[];
}

export interface Match {
  readonly route: Route;
  /** Values of the `:name` segments, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

export class Router {
  readonly #root = node();
  /** Nodes of paths without parameters, found in one lookup. */
  readonly #literals = new Map<string, Node>();
  /** The "not found" page for browsers. */
  #nothing: Route | undefined;

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /** Throws Refusal `route_unknown`, or `method_unknown` with the methods accepted by the path. */
  match(method: string, path: string): Match {
    const found = this.#walk(path);
    if (found === undefined || found.node.methods.size === 0) throw new Refusal({ kind: 'route_unknown' });
    // HEAD is GET without the body (RFC 9110, 9.3.2).
    const named = found.node.methods.get(method) ?? (method === 'HEAD' ? found.node.methods.get('GET') : undefined);
    if (named === undefined) {
      const methods = [...found.node.methods.keys()];
      throw new Refusal({ kind: 'method_unknown', allow: methods.includes('GET') ? [...methods, 'HEAD'] : methods });
    }
    const params: Record<string, string> = {};
    named.names.forEach((name, index) => {
      params[name] = found.values[index] ?? '';
    });
    return { route: named.route, params };
  }

  /** Returns the refusal format of the surface that a path belongs to, or undefined for the REST form. */
  wording(path: string): Route['refuse'] {
    const methods = this.#walk(path)?.node.methods.values() ?? [];
    for (const { route } of methods) if (route.refuse !== undefined) return route.refuse;
    return undefined;
  }

  /** Returns the route for unknown paths (`*`), or undefined when there is none. */
  get nothing(): Route | undefined {
    return this.#nothing;
  }

  #add(route: Route): void {
    if (route.path === '*') {
      this.#nothing = route;
      return;
    }
    let at = this.#root;
    const names: string[] = [];
    for (const segment of route.path.split('/').slice(1)) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1));
        at.parameter ??= node();
        at = at.parameter;
      } else {
        const next = at.literals.get(segment) ?? node();
        at.literals.set(segment, next);
        at = next;
      }
    }
    at.methods.set(route.method, { route, names });
    if (names.length === 0) this.#literals.set(route.path, at);
  }

  #walk(path: string): { node: Node; values: readonly string[] } | undefined {
    const literal = this.#literals.get(path);
    if (literal !== undefined) return { node: literal, values: [] };
    if (!path.startsWith('/')) return undefined;
    let at = this.#root;
    const values: string[] = [];
    for (const segment of path.split('/').slice(1)) {
      const next = at.literals.get(segment);
      if (next !== undefined) {
        at = next;
        continue;
      }
      const value = decodeSegment(segment);
      if (at.parameter === undefined || value === undefined || value === '') return undefined;
      values.push(value);
      at = at.parameter;
    }
    return { node: at, values };
  }
}

function node(): Node {
  return { literals: new Map(), parameter: undefined, methods: new Map() };
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    // The percent-encoded bytes are not UTF-8: no resource has such a name.
    return undefined;
  }
}
