// Finds the route of a method and a path in a tree of path segments, where a literal segment precedes a parameter. Paths match as sent: no
// trailing slash, no dots. Routes of any case have a separate tree in lower case.
import type { Route } from '../route.js';

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'none' }
  /** The path exists without this method. `allow` is the value of the Allow field. */
  | { readonly kind: 'method'; readonly allow: string };

interface Node {
  readonly children: Map<string, Node>;
  parameter: Node | undefined;
  readonly routes: Map<string, { readonly route: Route; readonly names: readonly string[] }>;
  allow: string;
}

const node = (): Node => ({ children: new Map(), parameter: undefined, routes: new Map(), allow: '' });

/** @throws when two routes have the same method and path. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Match {
  const root = node();
  const anyCase = node();
  for (const route of routes) add(route.anyCase ? anyCase : root, route);
  return (method, path) => {
    const segments = path.split('/');
    if (segments.shift() !== '') return { kind: 'none' };
    const values: string[] = [];
    const found =
      find(root, segments, 0, values) ?? find(anyCase, segments, 0, values, (segment) => segment.toLowerCase());
    if (found === undefined) return { kind: 'none' };
    // RFC 9110 §9.3.2: HEAD is GET without the content, which the server omits.
    const entry = found.routes.get(method === 'HEAD' ? 'GET' : method);
    if (entry === undefined) return { kind: 'method', allow: found.allow };
    const params: Record<string, string> = {};
    for (const [i, name] of entry.names.entries()) params[name] = values[i]!;
    return { kind: 'route', route: entry.route, params };
  };
}

function add(root: Node, route: Route): void {
  const names: string[] = [];
  let at = root;
  for (const segment of route.path.slice(1).split('/')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      const key = route.anyCase ? segment.toLowerCase() : segment;
      const next = at.children.get(key) ?? node();
      at.children.set(key, next);
      at = next;
    } else {
      names.push(name);
      at.parameter ??= node();
      at = at.parameter;
    }
  }
  if (at.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
  at.routes.set(route.method, { route, names });
  const methods = [...at.routes.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  at.allow = [...methods, 'OPTIONS'].join(', ');
}

const asSent = (segment: string): string => segment;

function find(
  at: Node,
  segments: readonly string[],
  depth: number,
  values: string[],
  keyOf = asSent,
): Node | undefined {
  if (depth === segments.length) return at.routes.size > 0 ? at : undefined;
  const segment = segments[depth]!;
  const child = at.children.get(keyOf(segment));
  const found = child && find(child, segments, depth + 1, values, keyOf);
  if (found !== undefined || at.parameter === undefined || segment === '') return found;
  const value = decoded(segment);
  if (value === undefined) return undefined;
  values.push(value);
  const behind = find(at.parameter, segments, depth + 1, values, keyOf);
  if (behind === undefined) values.pop();
  return behind;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
