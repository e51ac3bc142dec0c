/** The security and cache headers of every kind of answer: one row per route. */
import { beforeAll, describe, expect, it } from "vitest";
import { getAssetFileUrl, getPageScriptAndStylePaths } from "#pages/shared/assets.ts";
import { createPerson } from "#test/oauth/people.ts";
import { signInAs } from "#test/web/console/console-calls.ts";
import { portOf, request, sendRaw } from "#test/support/raw-http.ts";
import { useWorld } from "#test/support/use-world.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";

const allowedOrigin = "https://shop.example";
const world = useWorld("postgres", { environment: { CORS_ORIGINS: allowedOrigin, PORT: "0" } });

interface RouteCase {
  readonly url: string;
  readonly status: number;
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether shared caches may store the answer, because it is the same for every caller. */
  readonly isKept?: boolean;
  /**
   * Whether scripts of any origin may read the answer, which does not depend on cookies. `caller`: the answer
   * names the caller's origin, as oidc-provider does before it knows the client.
   */
  readonly isOpen?: boolean | "caller";
  readonly isPage?: boolean;
}

const html = { accept: "text/html" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const search = "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1";

const routes = {
  "an anonymous answer": { url: search, status: 200, isKept: true, isOpen: true },
  "an anonymous refusal": { url: "/api/v1/search", status: 400, isOpen: true },
  "an answer to a key": { url: "/api/v1/open/identity", status: 200, headers: { authorization: "key" } },
  "a refusal of a key": { url: "/api/v1/open/identity", status: 401 },
  "another method": { url: "/api/v1/open/identity", method: "POST", body: {}, status: 405 },
  "no route": { url: "/nothing", status: 404 },
  "no address at all": { url: "/%zz", status: 404 },
  "the graph": {
    url: "/graphql",
    method: "POST",
    body: { query: "{ viewer { role } }" },
    status: 200,
    headers: { authorization: "token" },
  },
  "a document that is refused": {
    url: "/graphql",
    method: "POST",
    body: { query: "{" },
    status: 400,
    headers: { authorization: "token" },
  },
  "the graph without a token": { url: "/graphql", method: "POST", body: {}, status: 401 },
  GraphiQL: { url: "/graphql", status: 200, headers: html, isPage: true },
  "the map of types": { url: "/graphql/map", status: 200, headers: html, isPage: true },
  "the documentation": { url: "/docs", status: 200, headers: html, isKept: true, isPage: true },
  "a page of it that is not there": { url: "/docs/nothing", status: 404, headers: html, isPage: true },
  "the way to it": { url: "/docs/", status: 308 },
  "the contract": { url: "/openapi.json", status: 200, isKept: true, isOpen: true },
  "the console's sign-in": { url: "/console", status: 200, headers: html, isPage: true },
  "the console": { url: "/console", status: 200, headers: { ...html, cookie: "console" }, isPage: true },
  "a form from elsewhere": {
    url: "/console/sign-in",
    method: "POST",
    body: "a=b",
    headers: { ...form, "sec-fetch-site": "cross-site" },
    status: 403,
    isPage: true,
  },
  "a checkout that is not there": { url: "/checkout/cs_nothing", status: 404, headers: html, isPage: true },
  "an authorization that is none": {
    url: "/oauth/authorize?client_id=x",
    status: 400,
    headers: html,
    isPage: true,
  },
  "the token endpoint": {
    url: "/oauth/token",
    method: "POST",
    body: "grant_type=x",
    headers: form,
    status: 400,
    isOpen: "caller",
  },
  "the authorization server's metadata": {
    url: "/.well-known/oauth-authorization-server",
    status: 200,
    isKept: true,
    isOpen: true,
  },
  "a script": { url: "script", status: 200, isKept: true },
  "a sheet": { url: "sheet", status: 200, isKept: true },
  "a file of the editor": { url: "component", status: 200, isKept: true },
  "a picture": { url: "/media/demo/nothing-at-all.svg", status: 200, isKept: true },
  "a report": {
    url: "/reports/sales.csv?from=2026-01-01&to=2026-01-02",
    status: 200,
    headers: { authorization: "token" },
  },
  "a report without a token": { url: "/reports/sales.csv", status: 401 },
  health: { url: "/healthz", status: 200 },
  readiness: { url: "/readyz", status: 200 },
  figures: { url: "/metrics", status: 200 },
} as const satisfies Readonly<Record<string, RouteCase>>;

/** Values of table placeholders that are known only once a test world exists. */
const known: Record<string, string> = {};

beforeAll(async () => {
  const { app, demo } = world();
  Object.assign(app.server.server, {
    connectionsCheckingInterval: 50,
    headersTimeout: 300,
    requestTimeout: 300,
  });
  await app.listen();
  const { email } = await createPerson(world());
  const asset = getPageScriptAndStylePaths("console", publicUrl);
  Object.assign(known, {
    key: `Bearer ${demo.keys.full}`,
    token: `Bearer ${demo.tokens.admin}`,
    console: await signInAs(world(), email),
    script: asset.scripts[0],
    sheet: asset.styles[0],
    component: getAssetFileUrl("graphiql-component.js", publicUrl),
  });
});

const knownOr = (text: string): string => known[text] ?? text;

function ask(
  { url, method = "GET", body, headers = {} }: RouteCase,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const sent = Object.fromEntries(
    Object.entries({ ...headers, ...more }).map(([name, value]) => [name, knownOr(value)]),
  );
  return world().send({ method, url: knownOr(url), headers: sent, ...(body === undefined ? {} : { body }) });
}

describe.each(Object.entries<RouteCase>(routes))("%s", (_name, route) => {
  it("has a content type, requires HTTPS from then on, and does not name the server software", async () => {
    const { status, headers } = await ask(route);
    expect({
      status,
      type: headers["x-content-type-options"],
      transport: headers["strict-transport-security"],
    }).toEqual({
      status: route.status,
      type: "nosniff",
      transport: "max-age=31536000",
    });
    expect(headers["x-request-id"]).toMatch(/^req_\w{26}$/);
    expect([headers["server"], headers["x-powered-by"], headers["via"]]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("may be stored by shared caches only if it is the same for everybody", async () => {
    const { headers, status } = await ask(route);
    const cacheControl = headers["cache-control"] ?? "";
    if (route.isKept === true) expect(cacheControl).toMatch(/^public, max-age=\d+/);
    // GraphiQL's page is the same for everybody and revalidated each time. A redirect's target is in its
    // location.
    else
      expect(route.url.startsWith("/graphql") || status === 308 ? "no-store" : cacheControl).toBe("no-store");
    if (route.isKept === true) expect(headers["set-cookie"]).toBeUndefined();
  });

  it("can be read only by scripts of its own origin, unless it is public", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      `${publicUrl}.evil.example`,
      `${allowedOrigin}.evil.example`,
      "http://shop.example",
    ]) {
      const { headers } = await ask(route, { origin });
      const expected = route.isOpen === "caller" ? origin : route.isOpen && "*";
      expect([origin, headers["access-control-allow-origin"]]).toEqual([origin, expected]);
      if (route.isOpen === "caller") expect(headers["vary"]).toBe("Origin");
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });
});

describe("an answer that Node itself sends", () => {
  it.each([
    ["no HTTP at all", "GARBAGE\r\n\r\n", 400],
    [
      "headers beyond their size",
      request("GET /healthz HTTP/1.1", "Host: api.test", `X-Long: ${"x".repeat(17 * 1024)}`),
      431,
    ],
    ["a request that does not end", "GET /healthz HTTP/1.1\r\n", 408],
  ])("has the same headers: %s", async (_name, bytes, status) => {
    const { headers, ...answer } = await sendRaw(portOf(world()), bytes);
    expect({ status: answer.status, headers }).toMatchObject({
      status,
      headers: {
        "x-content-type-options": "nosniff",
        "strict-transport-security": "max-age=31536000",
        "cache-control": "no-store",
      },
    });
    expect(headers["server"]).toBeUndefined();
  });
});

const pages = Object.entries<RouteCase>(routes).filter(([, { isPage }]) => isPage === true);

describe.each(pages)("%s, as a page,", (_name, route) => {
  it("cannot be framed, runs no foreign scripts, and sends no referrer", async () => {
    const { headers } = await ask(route);
    const policy = headers["content-security-policy"] ?? "";
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? "'none'";
    expect({ frame: headers["x-frame-options"], type: headers["content-type"] }).toEqual({
      frame: "DENY",
      type: "text/html; charset=utf-8",
    });
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action "])
      expect(policy).toContain(rule);
    expect(["'self'", "'none'"]).toContain(scripts);
    expect(["same-origin", "no-referrer"]).toContain(headers["referrer-policy"]);
  });
});

describe("origins that may call the graph", () => {
  it("are the configured ones; the answer names only the caller's origin and varies by it", async () => {
    const { headers } = await ask(routes["the graph"], { origin: allowedOrigin });
    expect([headers["access-control-allow-origin"], headers["vary"]]).toEqual([allowedOrigin, "Origin"]);
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });
});
