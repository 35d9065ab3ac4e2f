/** Owns which route a path and method name. Pure: rows in, one lookup per path segment at request time. */
import { Refusal } from '../fault.ts';
import type { Route } from './route.ts';

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | undefined;
  readonly methods: Map<string, Route>;
}

export interface Match {
  readonly route: Route;
  /** Values of the `:name` segments, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

export class Router {
  readonly #root = node();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /** Refuses with `route_unknown`, or with `method_unknown` and the methods that the path does take. */
  match(method: string, path: string): Match {
    const found = this.#walk(path);
    if (found === undefined || found.node.methods.size === 0) throw new Refusal({ kind: 'route_unknown' });
    // HEAD is GET without the body (RFC 9110, 9.3.2).
    const route = found.node.methods.get(method) ?? (method === 'HEAD' ? found.node.methods.get('GET') : undefined);
    if (route === undefined) {
      const methods = [...found.node.methods.keys()];
      throw new Refusal({ kind: 'method_unknown', allow: methods.includes('GET') ? [...methods, 'HEAD'] : methods });
    }
    const names = route.path.split('/').filter((segment) => segment.startsWith(':'));
    const params = Object.fromEntries(names.map((name, index) => [name.slice(1), found.values[index] ?? '']));
    return { route, params };
  }

  #add(route: Route): void {
    let at = this.#root;
    for (const segment of route.path.split('/').slice(1)) {
      if (segment.startsWith(':')) {
        at.parameter ??= node();
        at = at.parameter;
      } else {
        const next = at.literals.get(segment) ?? node();
        at.literals.set(segment, next);
        at = next;
      }
    }
    at.methods.set(route.method, route);
  }

  #walk(path: string): { node: Node; values: string[] } | undefined {
    if (!path.startsWith('/')) return undefined;
    let at = this.#root;
    const values: string[] = [];
    for (const segment of path.split('/').slice(1)) {
      const literal = at.literals.get(segment);
      if (literal !== undefined) {
        at = literal;
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
    // Not UTF-8 behind the percent signs: no resource has such a name.
    return undefined;
  }
}
