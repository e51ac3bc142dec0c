/** Every HTTP answer has the error body of the contract, also if Fastify or Node refuses the request. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorBody, expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { portOf, request, sendRaw } from "#test/support/raw-http.ts";
import { useWorld } from "#test/support/use-world.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";

const world = useWorld("postgres", { environment: { PORT: "0" } });
const identity = "/api/v1/open/identity";
const product = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";
const host = "Host: api.test";
let contract: Contract;
/** The server's timeouts before this file shortened one of them. */
let originalTimeouts: object;

beforeAll(async () => {
  contract = await readContract(world());
  const { server } = world().app.server;
  originalTimeouts = Object.fromEntries(Object.entries(server));
  // Makes the tests of slow clients quick.
  Object.assign(server, { connectionsCheckingInterval: 50 });
  await world().app.listen();
});

describe("a request that Node itself refuses", () => {
  /** Expects the contract's error body, and that the connection is closed. */
  function expectRawError(
    answer: Answer,
    status: number,
    code: "malformed_request" | "headers_too_large" | "request_timeout",
  ): void {
    expectError(answer, { status, code });
    expect(answer.headers["connection"]).toBe("close");
    expect(Number(answer.headers["content-length"])).toBe(Buffer.byteLength(answer.text));
  }

  it.each([
    ["bytes that are no HTTP", "hello\r\n\r\n"],
    ["TLS on the plain port", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000"],
    ["a method that does not exist", request("FETCH / HTTP/1.1", host)],
    ["a space in the URL", request("GET /a b HTTP/1.1", host)],
    ["a header without a colon", request("GET / HTTP/1.1", host, "broken")],
    ["a folded header", request("GET / HTTP/1.1", host, "X: a", " b\u0000")],
    ["a length that is not a number", request("POST /graphql HTTP/1.1", host, "Content-Length: ten")],
    ["a negative length", request("POST /graphql HTTP/1.1", host, "Content-Length: -1")],
    ["two lengths", request("POST /graphql HTTP/1.1", host, "Content-Length: 1", "Content-Length: 2")],
    [
      "a length and chunks",
      request("POST /graphql HTTP/1.1", host, "Content-Length: 3", "Transfer-Encoding: chunked"),
    ],
    ["HTTP/2 without an upgrade", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("with %s is answered with malformed_request", async (_name, bytes) => {
    expectRawError(await sendRaw(portOf(world()), bytes), 400, "malformed_request");
  });

  it("with headers of more than 16 KiB is answered with headers_too_large", async () => {
    const bytes = request("GET /healthz HTTP/1.1", host, `X-Long: ${"x".repeat(17 * 1024)}`);
    expectRawError(await sendRaw(portOf(world()), bytes), 431, "headers_too_large");
  });

  it("with a URL of more than 16 KiB is answered with headers_too_large", async () => {
    expectRawError(
      await sendRaw(portOf(world()), request(`GET /${"x".repeat(17 * 1024)} HTTP/1.1`, host)),
      431,
      "headers_too_large",
    );
  });

  it.each([
    ["headers", `GET ${identity} HTTP/1.1\r\n${host}\r\n`],
    [
      "a body",
      `POST /graphql HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    ],
  ])("with %s that never end is answered with request_timeout", async (part, bytes) => {
    const withToken =
      part === "headers"
        ? bytes
        : bytes.replace(host, `${host}\r\nAuthorization: Bearer ${world().demo.tokens.admin}`);
    const { server } = world().app.server;
    const { headersTimeout, requestTimeout } = server;
    // Only here: a pause of the process would end the requests of other tests.
    Object.assign(server, { headersTimeout: 300, requestTimeout: 300 });
    try {
      expectRawError(await sendRaw(portOf(world()), withToken), 408, "request_timeout");
    } finally {
      Object.assign(server, { headersTimeout, requestTimeout });
    }
  });

  it("may take 10 s for its headers and 30 s in all, checked every second", () => {
    expect(originalTimeouts).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1_000,
    });
  });

  it("without a Host header is answered with malformed_request", async () => {
    expectError(await sendRaw(portOf(world()), request(`GET ${identity} HTTP/1.1`)), {
      status: 400,
      code: "malformed_request",
    });
  });

  it.each(["foo", "200-ok", "100-continued"])(
    "with the unsupported Expect header %s is answered with malformed_request",
    async (expectation) => {
      const answer = await sendRaw(
        portOf(world()),
        request(`GET ${product} HTTP/1.1`, host, `Expect: ${expectation}`),
      );
      expectError(answer, { status: 400, code: "malformed_request" });
      const withBody =
        `POST /nothing HTTP/1.1\r\n${host}\r\nExpect: ${expectation}\r\n` +
        "Content-Length: 2\r\nConnection: close\r\n\r\n";
      expectError(await sendRaw(portOf(world()), withBody), { status: 400, code: "malformed_request" });
    },
  );

  it("of HTTP/1.0 is served without a Host header", async () => {
    expect((await sendRaw(portOf(world()), request("GET /healthz HTTP/1.0"))).status).toBe(200);
  });
});

describe("the Authorization header", () => {
  const send = (...lines: string[]): Promise<Answer> =>
    sendRaw(portOf(world()), request(`GET ${identity} HTTP/1.1`, host, ...lines));

  it("is refused if it is sent twice, although Node would keep the first", async () => {
    const line = `Authorization: Bearer ${world().demo.keys.full}`;
    expect((await send(line)).status).toBe(200);
    expectError(await send(line, line), {
      status: 401,
      code: "credentials_malformed",
      headers: { "www-authenticate": `Bearer realm="${publicUrl}", error="invalid_token"` },
    });
    expectError(await send(line, "authorization: Basic eA=="), {
      status: 401,
      code: "credentials_malformed",
    });
  });

  it("is ignored by anonymous operations, even if it is sent twice", async () => {
    const bytes = request(
      `GET ${product} HTTP/1.1`,
      host,
      "Authorization: Basic eA==",
      "Authorization: Bearer x",
    );
    expect((await sendRaw(portOf(world()), bytes)).status).toBe(200);
  });
});

describe("a body on a GET", () => {
  it.each([
    ["with a length", ["Content-Length: 2", "Content-Type: application/json"], "{}"],
    ["of another type", ["Content-Length: 2", "Content-Type: text/plain"], "{}"],
    ["without a type", ["Content-Length: 2"], "{}"],
    ["in chunks", ["Transfer-Encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"],
    ["in no chunk", ["Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ])("is refused %s", async (_name, lines, body) => {
    expectError(await sendRaw(portOf(world()), request(`GET ${product} HTTP/1.1`, host, ...lines) + body), {
      status: 400,
      code: "unexpected_body",
      details: [{ in: "body", field: "", code: "body_not_allowed" }],
    });
  });

  it("is allowed with a length of zero", async () => {
    expect(
      (await sendRaw(portOf(world()), request(`GET ${product} HTTP/1.1`, host, "Content-Length: 0"))).status,
    ).toBe(200);
  });
});

describe("a query of more than 100 parameters", () => {
  const many = (count: number): string =>
    Array.from({ length: count }, (_, index) => `p${index}=1`).join("&");

  it("is refused as a whole, without a detail per parameter", async () => {
    const refusal = {
      status: 400,
      code: "invalid_parameter",
      details: [{ in: "query", field: "", code: "too_many" }],
    } as const;
    expectError(await world().get(`${product}?${many(101)}`), refusal);
    expectError(await world().get(`${product}?${many(3_000)}`), refusal);
    expectError(await world().get(`${product}?${"x&".repeat(101)}`), refusal);
  });

  it("is not a query of 100 parameters and empty ones", async () => {
    const answer = await world().get(`${product}?${many(100)}${"&".repeat(200)}`);
    expect(answer.body.error).toMatchObject({ code: "unknown_parameter" });
    expect(answer.body.error.details).toHaveLength(20);
  });
});

describe("routing", () => {
  it.each([
    ["GET", "/"],
    ["GET", "/nothing"],
    ["GET", "/api/v1/nothing?x=1"],
    ["GET", "/api/v2/search"],
    ["GET", `${identity}/`],
    ["GET", "/API/v1/open/identity"],
    ["GET", "/api/v1//open/identity"],
    ["GET", "/%zz"],
    ["GET", "/api/v1/catalog/merchants/%zz/products/x"],
    ["GET", `/api/v1/catalog/merchants/lindenhof/products/${"x".repeat(501)}`],
    ["POST", "/nothing"],
    ["DELETE", "/api/v1/open/nothing"],
    ["PROPFIND", "/nothing"],
  ])("answers route_not_found for %s %s", async (method, url) => {
    const answer = await world().send({ method, url });
    expectError(answer, {
      status: 404,
      code: "route_not_found",
      headers: { "x-content-type-options": "nosniff" },
    });
  });

  it("answers route_not_found before it reads the body", async () => {
    expectError(await world().send({ method: "POST", url: "/nothing", body: "{" }), {
      status: 404,
      code: "route_not_found",
    });
    expectError(
      await world().send({
        method: "PUT",
        url: "/nothing",
        body: "x",
        headers: { "content-type": "text/plain" },
      }),
      {
        status: 404,
        code: "route_not_found",
      },
    );
  });

  it.each([
    ["/graphql", "GET, HEAD, POST, OPTIONS"],
    ["/openapi.json", "GET, HEAD"],
    ["/healthz", "GET, HEAD"],
    ["/readyz", "GET, HEAD"],
    ["/media/demo/x.svg", "GET, HEAD"],
    ["/docs/guides/x", "GET, HEAD"],
    ["/console/sign-in", "GET, HEAD, POST"],
    ["/oauth/token", "POST, OPTIONS"],
    ["/%68ealthz?deep=1", "GET, HEAD"],
    ["http://api.test/healthz", "GET, HEAD"],
  ])("answers method_not_allowed for %s, which allows %s", async (url, allow) => {
    expectError(await world().send({ method: "PUT", url }), {
      status: 405,
      code: "method_not_allowed",
      headers: { allow },
    });
  });

  const expectNotAllowed = (method: string, answer: Answer, allow: string): void => {
    // Answers to HEAD never have a body.
    if (method === "HEAD")
      expect({ status: answer.status, text: answer.text, allow: answer.headers["allow"] }).toEqual({
        status: 405,
        text: "",
        allow,
      });
    else
      expectError(answer, {
        status: 405,
        code: "method_not_allowed",
        headers: { allow, "www-authenticate": undefined },
      });
  };

  it("answers method_not_allowed with the allowed methods before it reads key and body", async () => {
    const methods = [
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "DELETE",
      "PATCH",
      "OPTIONS",
      "TRACE",
      "PROPFIND",
      "QUERY",
      "LINK",
    ];
    const paths = Map.groupBy(contract.operations, ({ path }) => path);
    for (const [path, operations] of paths) {
      const own = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      const url = path.replaceAll(/\{\w+\}/g, "x");
      const refused = methods
        .filter((candidate) => !own.includes(candidate))
        .flatMap((method) => [{ method }, { method, body: "{" }]);
      for (const sent of refused)
        expectNotAllowed(sent.method, await world().send({ url, ...sent }), own.join(", "));
    }
    expectError(await world().send({ method: "POST", url: "/openapi.json", body: {} }), {
      status: 405,
      code: "method_not_allowed",
      headers: { allow: "GET, HEAD" },
    });
  });
});

describe("a JSON body sent to POST /graphql", () => {
  const post = (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
    world()
      .app.server.inject({
        method: "POST",
        url: "/graphql",
        headers: {
          authorization: `Bearer ${world().demo.tokens.admin}`,
          "content-type": "application/json",
          ...headers,
        },
        payload: Buffer.from(body),
      })
      .then((response) => ({
        status: response.statusCode,
        headers: response.headers as Answer["headers"],
        text: response.body,
        body: response.json<unknown>(),
      }));
  const deep = (levels: number): string =>
    `{"query":"{__typename}","variables":${'{"x":'.repeat(levels)}1${"}".repeat(levels)}}`;

  it.each([
    ["cut short", '{"query":"{__type', "invalid_json"],
    ["with a comma too many", '{"query":"{__typename}",}', "invalid_json"],
    ["that is not UTF-8", Uint8Array.of(0x22, 0xc3, 0x28, 0x22), "invalid_json"],
    ["of no bytes", "", "missing_body"],
    ["17 levels deep", deep(16), "invalid_json"],
    [
      "that reaches for a prototype",
      '{"query":"{__typename}","variables":{"__proto__":{"x":1}}}',
      "unknown_field",
    ],
    [
      "that reaches for a constructor",
      '{"query":"{__typename}","variables":{"a":[{"constructor":1}]}}',
      "unknown_field",
    ],
  ] as const)("%s is refused", async (_name, body, code) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toHaveLength(1);
    const details = { "/variables/__proto__": "prototype", "/variables/a/0/constructor": "constructor" };
    const field = Object.entries(details).find(([, word]) => _name.includes(word))?.[0];
    expect(answer.body.errors[0].extensions).toEqual(
      (
        errorBody(answer, {
          status: 400,
          code,
          ...(field === undefined ? {} : { details: [{ in: "body", field, code: "unknown" }] }),
        }) as {
          error: unknown;
        }
      ).error,
    );
    expect(answer.text).not.toContain("__type");
  });

  it("may be 16 levels deep, and its media type may have a charset", async () => {
    expect((await post(deep(14))).status).toBe(200);
    expect(
      (await post('{"query":"{__typename}"}', { "content-type": "application/json; charset=utf-8" })).status,
    ).toBe(200);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json-patch+json",
  ])("is refused with the media type %s", async (type) => {
    const answer = await post('{"query":"{__typename}"}', { "content-type": type });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions.code).toBe("unsupported_media_type");
  });
});

describe("the log", () => {
  const productTemplate = "/api/v1/catalog/merchants/:merchantSlug/products/:productSlug";

  it("has one line per answer, with the route's template instead of the URL", async () => {
    const { logged, get, getWithKey, send, demo } = world();
    logged.length = 0;
    const answers = [
      await get(product),
      await getWithKey(`${identity}?secret=1`),
      await get("/nothing?secret=1"),
      await get("/%zz?secret=1"),
      await send({ method: "PUT", url: `${product}?secret=1` }),
      await send({ method: "PUT", url: "/console/sign-in?secret=1" }),
    ];
    await expect.poll(() => logged.length).toBe(answers.length);
    expect(logged.map(({ method, route, status, code }) => ({ method, route, status, code }))).toEqual([
      { method: "GET", route: productTemplate, status: 200, code: undefined },
      { method: "GET", route: identity, status: 400, code: "unknown_parameter" },
      { method: "GET", route: null, status: 404, code: "route_not_found" },
      { method: "GET", route: null, status: 404, code: "route_not_found" },
      { method: "PUT", route: productTemplate, status: 405, code: "method_not_allowed" },
      { method: "PUT", route: "/console/sign-in", status: 405, code: "method_not_allowed" },
    ]);
    expect(logged.map(({ requestId }) => requestId)).toEqual(
      answers.map(({ headers }) => headers["x-request-id"]),
    );
    expect(logged[1]).toMatchObject({ keyPrefix: demo.keys.full.slice(0, 21) });
    expect(JSON.stringify(logged)).not.toContain("secret");
  });
});

afterAll(() => {
  world().app.server.server.closeAllConnections();
});
