/**
 * A JSON body whose object has two members with the same name is refused on every route that reads JSON. A
 * proxy or a log may have read the other of the two members.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { portOf, request } from "#test/support/raw-http.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { exchange, statusesOf } from "./sockets.ts";

const world = useWorld("postgres", { environment: { PORT: "0" } });
beforeAll(() => world().app.listen());

interface RawAnswer {
  readonly status: number | undefined;
  readonly text: string;
}

async function post(line: string, body: string, ...headers: string[]): Promise<RawAnswer> {
  const head = request(
    `${line} HTTP/1.1`,
    "Host: api.test",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${body.length}`,
    ...headers,
  );
  const text = await exchange(portOf(world()), head + body);
  return { status: statusesOf(text)[0], text };
}
const bearer = (token: string): string => `Authorization: Bearer ${token}`;

interface JsonRoute {
  readonly name: string;
  /** Sends a valid body, in which a member is repeated if `isRepeated` is true. */
  readonly send: (isRepeated: boolean) => Promise<RawAnswer>;
  /** The name of the repeated member. */
  readonly member: string;
}

const routes: readonly JsonRoute[] = [
  {
    name: "a REST operation",
    member: "city",
    send: (isRepeated) =>
      post(
        `PUT /api/v1/open/storefront/carts/${world().demo.carts.active}/address`,
        '{"address":{"recipientName":"Anna Beispiel","line1":"Musterweg 1","postalCode":"10115",' +
          `"city":"Berlin","countryCode":"DE"${isRepeated ? ',"city":"Bonn"' : ""}}}`,
        bearer(world().demo.keys.full),
        `Idempotency-Key: repeated-${isRepeated}`,
      ),
  },
  {
    name: "/graphql",
    member: "query",
    send: (isRepeated) =>
      post(
        "POST /graphql",
        `{"query":"{ viewer { role } }"${isRepeated ? ',"query":"{ viewer { credential } }"' : ""}}`,
        bearer(world().demo.tokens.admin),
      ),
  },
  {
    name: "the MCP server",
    member: "method",
    // The answer over a socket would be a stream of events that stays open.
    send: (isRepeated) =>
      world().send({
        method: "POST",
        url: "/mcp",
        headers: {
          authorization: `Bearer ${world().demo.keys.full}`,
          accept: "application/json, text/event-stream",
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"${isRepeated ? ',"method":"ping"' : ""}}`,
      }),
  },
  {
    name: "the registration of OAuth clients",
    member: "redirect_uris",
    send: (isRepeated) =>
      post(
        "POST /oauth/register",
        '{"client_name":"Agent","redirect_uris":["http://127.0.0.1/back"],"token_endpoint_auth_method":"none"' +
          `${isRepeated ? ',"redirect_uris":["https://evil.example/"]' : ""}}`,
      ),
  },
  {
    name: "/listen",
    member: "waitSeconds",
    send: (isRepeated) =>
      post(
        "POST /listen",
        `{"waitSeconds":0${isRepeated ? ',"waitSeconds":1' : ""}}`,
        bearer(world().demo.keys.full),
      ),
  },
];

describe("a JSON body with two members of the same name", () => {
  it.each(routes.map((route) => [route.name, route] as const))("is refused by %s", async (_name, route) => {
    const accepted = await route.send(false);
    expect([200, 201], accepted.text).toContain(accepted.status);
    const refused = await route.send(true);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("more than one member");
    expect(refused.text).toContain(route.member);
  });

  it("is refused in the parameters of a GET request to /graphql", async () => {
    const get = (variables: string): Promise<Answer> =>
      world().get(`/graphql?documentId=sha256:${"0".repeat(64)}&variables=${encodeURIComponent(variables)}`, {
        authorization: `Bearer ${world().demo.tokens.admin}`,
      });
    const refused = await get('{"id":"a","id":"b"}');
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([400, "invalid_json"]);
    expect((await get('{"id":"a"}')).body.errors[0].extensions.code).toBe("trusted_document_not_found");
  });
});
