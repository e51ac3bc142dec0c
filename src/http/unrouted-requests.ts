/**
 * Creates the failures of requests that no route accepts. If the path has routes for other HTTP methods, the
 * answer is 405 with the header Allow (RFC 9110, section 15.5.6). Otherwise the answer is 404, and suggests
 * the routes that the client probably meant when it sent a path with a trailing slash, a mistyped part, or
 * without `/api/v1/open`. Messages show the paths of routes, never a part of the request.
 */
import createRouter from "find-my-way";
import { createFailure, type Failure, createFailureWithDetail } from "#foundation/failure.ts";
import { computeEditDistance } from "#foundation/nearest.ts";

/** A path of the service that can be suggested. A part of the path that begins with `:` is a parameter. */
interface KnownPath {
  readonly path: string;
  readonly parts: readonly string[];
  /** The HTTP methods of the path's routes, without HEAD and OPTIONS. */
  readonly methods: Set<string>;
}

/**
 * Maximum number of characters of a path for which similar routes are searched. With longer paths, the search
 * could take long.
 */
const pathLengthMax = 200;
const partsMax = 12;
/** The cost of a path segment that occurs only in the sent path or only in the path of the route. */
const missingPartCost = 3;
/**
 * The cost of comparing a part of the sent path with a parameter of a route. The cost is above 0, so that a
 * route with exactly the same word is preferred.
 */
const parameterCost = 0.5;
const costMax = 9;
const shownMax = 3;
/**
 * Path parts that nearly all paths have, for example `api`. A sent path is similar to a route only if they
 * also have another part in common.
 */
const commonParts: ReadonlySet<string> = new Set(["api", "v1", "open"]);

/** The maximum number of characters of a parameter in a path. The server answers 404 for longer ones. */
export const pathParameterLengthMax = 500;

/** The HTTP methods that routes may have, in the order of messages and of the header Allow. */
const routeMethods = ["GET", "HEAD", "POST", "PATCH", "DELETE", "PUT", "OPTIONS"] as const;
type RouteMethod = (typeof routeMethods)[number];

const isRouteMethod = (method: string): method is RouteMethod =>
  (routeMethods as readonly string[]).includes(method);

interface AddedRoute {
  readonly method: RouteMethod;
  readonly path: string;
}

export interface UnroutedRequests {
  /** Adds a route of the server. All routes must be added before the first request. */
  readonly addRoute: (route: { readonly methods: readonly string[]; readonly path: string }) => void;
  /**
   * Returns the template of the URL's path, for example `/docs/:page`, if a route for any method has it; if
   * several routes have it, preferably one that does not end with `*`.
   */
  readonly findTemplate: (url: string) => string | undefined;
  /** Returns the failure 405 or 404 for a request that no route accepts. */
  readonly createFailure: (request: { readonly method: string; readonly url: string }) => Failure;
}

export function createUnroutedRequests(): UnroutedRequests {
  const routes: AddedRoute[] = [];
  let findRoutes: ((url: string) => AddedRoute[]) | undefined;
  let knownPaths: readonly KnownPath[] | undefined;
  const find = (url: string): AddedRoute[] => (findRoutes ??= createRouteFinder(routes))(url);
  return {
    addRoute: ({ methods, path }) => {
      for (const method of methods) {
        if (!isRouteMethod(method)) throw new Error(`Add the method ${method} to routeMethods.`);
        routes.push({ method, path });
      }
    },
    findTemplate: (url) => {
      const found = find(url);
      return (found.find(({ path }) => !path.endsWith("*")) ?? found[0])?.path;
    },
    createFailure: ({ method, url }) => {
      const supported = find(url).map((route) => route.method);
      // A request whose method is supported did not meet the constraint of the route. Its answer is 404.
      if (supported.length > 0 && !supported.some((name) => name === method))
        return createMethodFailure(supported);
      const [path = ""] = url.split("?", 1);
      const nearest =
        path.length > pathLengthMax
          ? []
          : findNearestPaths(splitPath(path), (knownPaths ??= toKnownPaths(routes)));
      const shown = preferMethod(nearest, method).map((one) => describePath(one, method));
      return shown.length === 0 ? createFailure("route_not_found") : suggestPaths(path, shown);
    },
  };
}

/**
 * Returns a function that finds the routes that a URL has, at most one for each method. It uses the router of
 * Fastify, so that it decodes and matches paths in the same way. (Fastify's own `findRoute` compares only
 * templates.)
 */
function createRouteFinder(routes: readonly AddedRoute[]): (url: string) => AddedRoute[] {
  const router = createRouter({ maxParamLength: pathParameterLengthMax });
  // Two routes may differ only in a constraint.
  const different = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  for (const route of different.values()) router.on(route.method, route.path, () => undefined, route);
  // The router's type does not know the type of what it stores.
  const stored = new Map<unknown, AddedRoute>(routes.map((route) => [route, route]));
  return (url) => routeMethods.flatMap((method) => stored.get(router.find(method, url)?.store) ?? []);
}

function toKnownPaths(routes: readonly AddedRoute[]): KnownPath[] {
  const known = new Map<string, KnownPath>();
  for (const { method, path } of routes) {
    if (path.endsWith("*")) continue;
    const found = known.get(path) ?? { path, parts: splitPath(path), methods: new Set<string>() };
    known.set(path, found);
    if (method !== "HEAD" && method !== "OPTIONS") found.methods.add(method);
  }
  return [...known.values()];
}

function createMethodFailure(supported: readonly string[]): Failure {
  const allow = supported.join(", ");
  const message = `This path supports only ${allow}.`;
  return createFailure("method_not_allowed", {
    message,
    details: [{ in: "path", field: "", code: "method_not_allowed", message, allowed: supported }],
    headers: { allow },
  });
}

function suggestPaths(path: string, shown: readonly string[]): Failure {
  const [code, fault] =
    path.length > 1 && path.endsWith("/")
      ? ["trailing_slash", "Paths have no slash at the end."]
      : path.includes("//")
        ? ["empty_part", "The path has two slashes in a row."]
        : ["unknown", "No route has this path."];
  const message = `${fault} ${shown.length === 1 ? "The nearest is" : "The nearest are"} ${shown.join(", ")}.`;
  return createFailureWithDetail("route_not_found", { in: "path", field: "", code, message, allowed: shown });
}

const splitPath = (path: string): string[] => path.split("/").filter((part) => part !== "");

/**
 * Returns only the paths that support the HTTP method of the request if there is at least one; otherwise
 * returns all paths.
 */
function preferMethod(paths: readonly KnownPath[], method: string): readonly KnownPath[] {
  const supporting = paths.filter(({ methods }) => methods.has(method));
  return (supporting.length > 0 ? supporting : paths).slice(0, shownMax);
}

function describePath({ path, methods }: KnownPath, method: string): string {
  const shown = methods.has(method) ? method : [...methods].toSorted().join("/");
  return `${shown} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
}

/**
 * Returns the paths of routes that are most similar to the sent path (those with the lowest cost); an empty
 * list if no path is similar.
 */
function findNearestPaths(parts: readonly string[], known: Iterable<KnownPath>): KnownPath[] {
  if (parts.length === 0 || parts.length > partsMax) return [];
  const compare = createPartComparison();
  let best = costMax;
  let nearest: KnownPath[] = [];
  for (const candidate of known) {
    const isSimilar = candidate.parts.some(
      (part) =>
        !part.startsWith(":") && !commonParts.has(part) && parts.some((given) => compare(given, part) < 2),
    );
    const cost = isSimilar ? compareParts(parts, candidate.parts, compare) : Infinity;
    if (cost > best) continue;
    if (cost < best) nearest = [];
    best = cost;
    nearest.push(candidate);
  }
  return nearest;
}

type PartComparison = (given: string, part: string) => number;

/**
 * Creates the function for the cost of replacing a part of the sent path by a part of a route (an edit
 * distance over the parts of paths). The cost is low if the part of the route is a parameter or a similar
 * word. To replace a part by a different word costs more than to remove one part and to insert another.
 */
function createPartComparison(): PartComparison {
  const costs = new Map<string, number>();
  return (given, part) => {
    if (part.startsWith(":")) return parameterCost;
    const key = `${given}/${part}`;
    const cached = costs.get(key);
    if (cached !== undefined) return cached;
    const typosMax = part.length >= 8 ? 2 : 1;
    const typos = computeEditDistance(given.toLowerCase(), part.toLowerCase(), typosMax);
    const cost = typos > typosMax ? 2 * missingPartCost + 1 : typos === 0 ? 0 : 1;
    costs.set(key, cost);
    return cost;
  };
}

/** Returns the lowest cost of changing the parts of a path to the parts of a route (an edit distance). */
function compareParts(given: readonly string[], parts: readonly string[], compare: PartComparison): number {
  let above = parts.map((_, index) => (index + 1) * missingPartCost);
  let aboveFirst = 0;
  for (const word of given) {
    const current: number[] = [];
    let left = aboveFirst + missingPartCost;
    let diagonal = aboveFirst;
    aboveFirst = left;
    for (const [index, part] of parts.entries()) {
      const up = above[index] ?? 0;
      left = Math.min(diagonal + compare(word, part), up + missingPartCost, left + missingPartCost);
      diagonal = up;
      current.push(left);
    }
    above = current;
  }
  return above.at(-1) ?? aboveFirst;
}
