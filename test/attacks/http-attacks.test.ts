/**
 * HTTP attacks over a real socket: no request is smuggled in another, no forged header redirects anybody, and
 * slow connections do not block others. For requests that Node refuses see gateway/http.test.ts.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { portOf, request, sendRaw } from "#test/support/raw-http.ts";
import { useWorld } from "#test/support/use-world.ts";
import { exchange, lines, statusesOf } from "./sockets.ts";

const world = useWorld("postgres", { environment: { PORT: "0" } });
const host = "Host: api.test";
const evil = "evil.example";
const onlyOneHost = "The request must have only one Host header.";

beforeAll(async () => {
  Object.assign(world().app.server.server, {
    connectionsCheckingInterval: 50,
    headersTimeout: 2_000,
    requestTimeout: 2_000,
    keepAliveTimeout: 200,
  });
  await world().app.listen();
});

describe("a smuggled request", () => {
  /** A request that needs a key; if it were processed, its answer would be a 200. */
  const hidden = (): string =>
    lines(
      "GET /api/v1/open/identity HTTP/1.1",
      host,
      `Authorization: Bearer ${world().demo.keys.full}`,
      "Connection: close",
      "",
      "",
    );
  const post = (...headers: string[]): string =>
    lines("POST /graphql HTTP/1.1", host, "Content-Type: application/json", ...headers, "", "");
  const length = (text: string): string => `Content-Length: ${text.length}`;

  const smuggled: readonly (readonly [name: string, bytes: () => string])[] = [
    [
      "behind a length beside chunks",
      () => post("Content-Length: 4", "Transfer-Encoding: chunked") + `0\r\n\r\n${hidden()}`,
    ],
    [
      "behind chunks beside a length",
      () => post("Transfer-Encoding: chunked", "Content-Length: 4") + `0\r\n\r\n${hidden()}`,
    ],
    ["behind two lengths", () => post("Content-Length: 0", length(hidden())) + hidden()],
    ["behind two lengths on one line", () => post(`Content-Length: 0, ${hidden().length}`) + hidden()],
    ["behind a length with a sign", () => post("Content-Length: +0") + hidden()],
    ["behind a length in hexadecimal", () => post("Content-Length: 0x0") + hidden()],
    ["behind a length with a blank in it", () => post("Content-Length: 0 0") + hidden()],
    ["behind a coding that is none", () => post("Transfer-Encoding: xchunked") + `0\r\n\r\n${hidden()}`],
    [
      "behind a coding that comes after chunks",
      () => post("Transfer-Encoding: chunked, identity") + `0\r\n\r\n${hidden()}`,
    ],
    [
      "behind a coding on a folded line",
      () => post("Transfer-Encoding:", " chunked", "Content-Length: 0") + `0\r\n\r\n${hidden()}`,
    ],
    [
      "behind a blank before the colon",
      () => post("Transfer-Encoding : chunked", "Content-Length: 0") + `0\r\n\r\n${hidden()}`,
    ],
    [
      "behind a tab after the coding",
      () => post("Transfer-Encoding: chunked\u000b") + `0\r\n\r\n${hidden()}`,
    ],
    [
      "behind a size in another notation",
      () => post("Transfer-Encoding: chunked") + `0x0\r\n\r\n${hidden()}`,
    ],
    ["behind a negative size", () => post("Transfer-Encoding: chunked") + `-1\r\n\r\n${hidden()}`],
    [
      "behind a size beyond all numbers",
      () => post("Transfer-Encoding: chunked") + `FFFFFFFFFFFFFFFFF\r\n\r\n${hidden()}`,
    ],
    [
      "behind a chunk that is longer than told",
      () => post("Transfer-Encoding: chunked") + `1\r\nabc0\r\n\r\n${hidden()}`,
    ],
    [
      "behind a bare line feed after a size",
      () => post("Transfer-Encoding: chunked") + `1\na\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      "behind an extension without an end",
      () => post("Transfer-Encoding: chunked") + `1;${"x".repeat(20_000)}\r\na\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      "behind a bare carriage return",
      () => post("X: a\rTransfer-Encoding: chunked", "Content-Length: 0") + `0\r\n\r\n${hidden()}`,
    ],
    ["behind a NUL in a name", () => post("Trans\u0000fer-Encoding: chunked") + `0\r\n\r\n${hidden()}`],
    ["behind HTTP/0.9", () => `GET /healthz\r\n\r\n${hidden()}`],
    [
      "behind HTTP/1.0 in chunks",
      () =>
        post("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0") +
        `5\r\nhello\r\n0\r\n\r\n${hidden()}`,
    ],
  ];

  it.each(smuggled)("is never processed: %s", async (_name, bytes) => {
    const statuses = statusesOf(await exchange(portOf(world()), bytes()));
    expect(statuses).not.toContain(200);
    expect(statuses.length).toBeGreaterThan(0);
    // A request without a credential is refused after its head; the bytes behind it are then invalid HTTP.
    expect(
      statuses.every((status, index) => (index === 0 ? status >= 400 && status < 500 : status === 400)),
    ).toBe(true);
    expect(statuses.length).toBeLessThanOrEqual(2);
  });

  it("is not processed either in the unread rest of a refused request", async () => {
    const bytes = post("Content-Type: text/plain", "Authorization: Bearer x", length(hidden())) + hidden();
    expect(statusesOf(await exchange(portOf(world()), bytes + hidden()))).toEqual([401, 200]);
  });

  it("in a trailer adds no header", async () => {
    const bytes = lines(
      "GET /api/v1/open/identity HTTP/1.1",
      host,
      "Transfer-Encoding: chunked",
      "Trailer: Authorization",
      "Connection: close",
      "",
      "",
    );
    const text = await exchange(
      portOf(world()),
      `${bytes}0\r\nAuthorization: Bearer ${world().demo.keys.full}\r\n\r\n`,
    );
    expect(statusesOf(text)).not.toContain(200);
  });

  it("in a pipeline gets a separate answer, in order, with its own credential", async () => {
    const asked = (key: string | undefined, ...more: string[]): string =>
      lines(
        "GET /api/v1/open/identity HTTP/1.1",
        host,
        ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
        ...more,
        "",
        "",
      );
    const { full, otherMerchant } = world().demo.keys;
    const text = await exchange(
      portOf(world()),
      asked(full) + asked(undefined) + asked(otherMerchant, "Connection: close"),
    );
    expect(statusesOf(text)).toEqual([200, 401, 200]);
    const { first, second } = world().demo.merchants;
    const [of1 = "", of2 = "", of3 = ""] = text.split("HTTP/1.1 ").slice(1);
    expect([
      of1.includes(first.slug),
      of1.includes(second.slug),
      of2.includes(first.slug),
      of3.includes(second.slug),
      of3.includes(first.slug),
    ]).toEqual([true, false, false, true, false]);
  });
});

describe("a forged Host or target", () => {
  const targets = [
    ["an absolute address", `GET http://${evil}/nothing HTTP/1.1`],
    ["an asterisk", "OPTIONS * HTTP/1.1"],
    ["two slashes", `GET //${evil}/docs HTTP/1.1`],
    ["a backslash", `GET /\\${evil}/docs HTTP/1.1`],
    ["a proxy's address", `GET http://169.254.169.254/latest/meta-data/ HTTP/1.1`],
    ["TRACE", "TRACE /healthz HTTP/1.1"],
    ["TRACK", "TRACK /healthz HTTP/1.1"],
    ["a NUL in the path", "GET /docs/%00 HTTP/1.1"],
    ["a way out of a folder", "GET /docs/..%2f..%2fpackage.json HTTP/1.1"],
    ["a way out of the pictures", "GET /media/demo/..%2f..%2fpackage.json HTTP/1.1"],
    ["dots that are not encoded", "GET /assets/../../../package.json HTTP/1.1"],
    ["a line break in the path", "GET /docs/%0d%0aSet-Cookie:%20a=b HTTP/1.1"],
    ["an overlong encoding", "GET /docs/%c0%af%c0%ae HTTP/1.1"],
  ] as const;

  it.each(targets)("does not change the route: %s", async (_name, line) => {
    const text = await exchange(
      portOf(world()),
      request(line, host, "X-Secret: canary", "Accept: text/html"),
    );
    const statuses = statusesOf(text);
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.every((status) => status >= 400 && status < 500)).toBe(true);
    for (const word of ["canary", "meta-data", "commerce-gateway", "set-cookie"])
      expect(text.toLowerCase()).not.toContain(word);
  });

  it.each([
    ["HTTP/1.1", "GET /healthz HTTP/1.1", "host: api.test"],
    ["HTTP/1.0", "GET /healthz HTTP/1.0", `HOST: ${evil}`],
  ])("is refused beside another Host header: %s", async (_name, line, second) => {
    const answer = await sendRaw(portOf(world()), request(line, host, second));
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({
        code: "malformed_request",
        message: onlyOneHost,
      }),
    ]);
    expect((await sendRaw(portOf(world()), request(line, host, "X-Host: api.test"))).status).toBe(200);
  });

  it.each([
    ["REST", "PUT /api/v1/open/storefront/carts/cart_x/address"],
    ["/graphql", "POST /graphql"],
    ["/mcp", "POST /mcp"],
    ["/listen", "POST /listen"],
    ["OAuth", "POST /oauth/register"],
    ["the token endpoint", "POST /oauth/token"],
    ["the console", "POST /console/sign-in", "HTTP/1.1 400 Bad Request"],
  ])(
    "is refused beside another Host header by each part of the service: %s",
    async (_name, line, said = onlyOneHost) => {
      const bytes = request(`${line} HTTP/1.1`, host, host, "Content-Length: 0");
      const text = await exchange(portOf(world()), bytes);
      expect(statusesOf(text)).toEqual([400]);
      expect(text).toContain(said);
    },
  );

  it("does not make the service a proxy: CONNECT is closed without an answer", async () => {
    expect(await exchange(portOf(world()), request(`CONNECT ${evil}:443 HTTP/1.1`, host))).toBe("");
  });

  const stranger = {
    "x-forwarded-host": evil,
    "x-forwarded-proto": "ftp",
    "x-forwarded-port": "666",
    forwarded: `host=${evil};proto=ftp`,
    "x-original-url": `/${evil}`,
    "x-rewrite-url": `/${evil}`,
    "x-host": evil,
  } as const;

  it.each([
    "/openapi.json",
    "/docs",
    "/console",
    "/graphql",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/docs/",
    "/oauth/authorize?client_id=x",
    "/api/v1/open/identity",
    "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1",
  ])("does not change addresses in the answer: %s", async (url) => {
    const answers = [];
    for (const headers of [{ host: "api.test" }, { ...stranger, host: `${evil}:666` }])
      answers.push(await world().get(url, { accept: "text/html", ...headers }));
    const [plain, told] = answers;
    expect(JSON.stringify([told?.headers, told?.text])).not.toContain(evil);
    expect([told?.status, told?.headers["location"]]).toEqual([plain?.status, plain?.headers["location"]]);
  });

  it.each(["x-http-method-override", "x-method-override", "x-http-method"])(
    "does not override the method by %s",
    async (name) => {
      const { send, demo } = world();
      const headers = { authorization: `Bearer ${demo.keys.full}`, [name]: "DELETE" };
      expect((await send({ method: "GET", url: "/api/v1/open/identity", headers })).status).toBe(200);
      expect(
        (await send({ method: "POST", url: "/api/v1/open/identity?_method=GET", headers, body: {} })).status,
      ).toBe(405);
    },
  );

  it("with a range gets the whole answer", async () => {
    const { status, headers } = await world().get("/openapi.json", { range: "bytes=0-1,5-6,0-99999999" });
    expect([status, headers["content-range"], headers["accept-ranges"]]).toEqual([200, undefined, undefined]);
  });

  it("is never upgraded", async () => {
    const upgrades = ["Upgrade: h2c", "Upgrade: websocket"].map((upgrade) =>
      request("GET /healthz HTTP/1.1", host, upgrade, "HTTP2-Settings: AAMAAABkAAQAAP__").replace(
        "Connection: close",
        "Connection: close, Upgrade",
      ),
    );
    for (const bytes of upgrades) expect((await sendRaw(portOf(world()), bytes)).status).toBe(200);
  });
});

describe("forged client headers", () => {
  it("are not echoed in any header, neither request ids nor injected lines", async () => {
    const lined = "a%0d%0aSet-Cookie:%20a=b";
    const told = {
      "x-request-id": "mine",
      "x-correlation-id": "mine",
      "idempotency-key": "mine",
      "accept-language": "mine",
      origin: `https://${evil}`,
    };
    for (const url of [
      "/healthz",
      `/docs/${lined}`,
      `/console?next=${lined}`,
      `/oauth/authorize?client_id=${lined}&state=${lined}`,
      `/assets/${lined}.js`,
    ]) {
      const { headers } = await world().get(url, told);
      expect(headers["x-request-id"]).toMatch(/^req_\w{26}$/);
      for (const value of Object.values(headers)) expect(String(value)).not.toMatch(/mine|evil|[\r\n]/);
    }
  });

  it("do not set the address if no proxy is configured", async () => {
    const { logged, get } = world();
    logged.length = 0;
    await get("/metrics", { "x-forwarded-for": "127.0.0.1" }).then(({ status }) => expect(status).toBe(404));
    expect(JSON.stringify(logged)).not.toContain("127.0.0.1");
  });

  it("that change the answer are declared to caches in Vary", async () => {
    const url = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";
    const headers = { authorization: `Bearer ${world().demo.keys.full}`, "accept-language": "de" };
    const answer = await world().get(url, headers);
    expect([answer.status, answer.headers["vary"]]).toEqual([
      200,
      "Authorization, Accept-Language, Accept-Encoding",
    ]);
    // Unknown query parameters would create more cache entries, whose content an attacker controls.
    const other = await world().get(`${url}?utm=1`, headers);
    expect([other.status, other.body.error.code]).toEqual([400, "unknown_parameter"]);
  });
});

describe("connections that say nothing", () => {
  it("five hundred of them do not block other requests, and are closed at the timeout", async () => {
    const port = portOf(world());
    const idle = Array.from({ length: 500 }, () => exchange(port, "GET /healthz HTTP/1.1\r\nX-Slow: "));
    expect((await sendRaw(port, request("GET /healthz HTTP/1.1", host))).status).toBe(200);
    Object.assign(world().app.server.server, { headersTimeout: 500, requestTimeout: 500 });
    const statuses = (await Promise.all(idle)).map((text) => statusesOf(text).join());
    expect([statuses.length, ...new Set(statuses)]).toEqual([500, "408"]);
  });
});
