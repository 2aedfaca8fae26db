interface Route {
  readonly method: string;
  readonly segments: readonly string[];
}

/**
 * The routes of a server. Needed to distinguish an unknown path from a wrong method: Fastify answers 404 to both, and does not report the
 * methods of a path.
 */
export class RouteTable {
  private readonly routes: Route[] = [];
  /** By the pattern of a route: those that Fastify would take for it, were their method another. */
  private readonly hiddenBehind = new Map<string, readonly Route[]>();

  add(method: string | readonly string[], url: string): void {
    for (const name of typeof method === 'string' ? [method] : method) {
      this.routes.push({ method: name, segments: segmentsOf(url) });
    }
  }

  /** Whether the path is that of another route: Fastify takes `GET /tx/batch` for `GET /tx/:txId`. @param pattern of the route that Fastify found */
  isOfOther(pattern: string, url: string): boolean {
    let hidden = this.hiddenBehind.get(pattern);
    if (hidden === undefined) {
      const own = segmentsOf(pattern);
      hidden = this.routes.filter(
        (route) => parametersOf(route) < parametersOf({ segments: own }) && matches(own, route.segments),
      );
      this.hiddenBehind.set(pattern, hidden);
    }
    if (hidden.length === 0) return false;
    const segments = segmentsOf(pathOf(url));
    return hidden.some((route) => matches(route.segments, segments));
  }

  /** @returns the methods of the path; empty when there is no such path */
  methodsOf(url: string): string[] {
    const segments = segmentsOf(pathOf(url));
    const matching = this.routes.filter((route) => matches(route.segments, segments));
    // Of `/tx/batch` and `/tx/:txId`, only the first names a path of its own.
    const fewest = Math.min(...matching.map(parametersOf));
    return [...new Set(matching.filter((route) => parametersOf(route) === fewest).map(({ method }) => method))].sort();
  }
}

function parametersOf({ segments }: Pick<Route, 'segments'>): number {
  return segments.filter((segment) => segment.startsWith(':')).length;
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

/** With those that are empty: to Fastify, a path with one slash more is another path. */
function segmentsOf(path: string): string[] {
  return path.split('/').slice(1);
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  // A catch-all route matches every path, so it does not show that a path exists.
  if (pattern.includes('*')) return false;
  return (
    pattern.length === path.length && pattern.every((segment, i) => segment.startsWith(':') || segment === path[i])
  );
}
