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

  add(method: string | readonly string[], url: string): void {
    for (const name of typeof method === 'string' ? [method] : method) {
      this.routes.push({ method: name, segments: segmentsOf(url) });
    }
  }

  /** @returns the methods of the path; empty when there is no such path */
  methodsOf(url: string): string[] {
    const segments = segmentsOf(url.split('?', 1)[0] ?? '');
    const matching = this.routes.filter((route) => matches(route.segments, segments));
    // Of `/tx/batch` and `/tx/:txId`, only the first names a path of its own.
    const fewest = Math.min(...matching.map(parametersOf));
    return [...new Set(matching.filter((route) => parametersOf(route) === fewest).map(({ method }) => method))].sort();
  }
}

function parametersOf({ segments }: Route): number {
  return segments.filter((segment) => segment.startsWith(':')).length;
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
