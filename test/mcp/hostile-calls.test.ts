/**
 * Random tool calls with hostile arguments and keys of different scopes. A call may succeed only if the key
 * has the operation's scope, and never returns objects of another merchant.
 */
import { randomUUID } from "node:crypto";
import type { Client } from "@modelcontextprotocol/client";
import { beforeAll, afterAll, expect, it } from "vitest";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { createRandomNumberGenerator, pickRandomItem } from "#demo/random.ts";
import { openCart, openShop } from "#soak/shop.ts";
import { type OpenApiOperation, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import { connectMcpClient } from "./mcp-client.ts";

const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0" } });

/** The number of calls; docs/figures.md has the result of HOSTILE_CALLS=10000. */
const callCount = Number(process.env["HOSTILE_CALLS"] ?? 1000);
const random = createRandomNumberGenerator(20_261_124);
const pick = <Item>(items: readonly Item[]): Item => pickRandomItem(random, items);

const keyNames = [
  "full",
  "catalogRead",
  "checkoutQuote",
  "webhooksRead",
  "webhooksWrite",
  "noScope",
  "otherMerchant",
] as const satisfies readonly (keyof DemoJsonFileContent["keys"])[];

interface Caller {
  readonly name: (typeof keyNames)[number];
  readonly client: Client;
  readonly scopes: readonly string[];
}

/** Values that attack paths, queries, headers and types. */
const hostileTexts = ["..", ".", "../../identity", "%2e%2e%2fidentity", "x?locale=de", "x#y", "", " ", "*"];
const hostileValues: readonly unknown[] = [
  ...hostileTexts,
  "\u0000",
  "x\r\nx-role: admin",
  "\uD800",
  "' or 1=1 --",
  "__proto__",
  "constructor",
  "a".repeat(600),
  -1,
  1e21,
  true,
  null,
  [],
  {},
];

let callers: Caller[];
let ownIds: readonly [cartId: string, orderId: string];
beforeAll(async () => {
  const { keys, orders } = world().demo;
  ownIds = [
    (await openCart(world().send, await openShop(world().send, world().demo))).id,
    orders?.placed ?? "",
  ];
  callers = await Promise.all(
    keyNames.map(async (name) => ({
      name,
      client: await connectMcpClient(world(), { headers: { authorization: `Bearer ${keys[name]}` } }),
      scopes: (await world().getWithKey("/api/v1/open/identity", name)).body.data.apiKey.scopes as string[],
    })),
  );
});
afterAll(() => Promise.all(callers.map(({ client }) => client.close())));

function createHostileArguments({ path, method }: OpenApiOperation & Record<"path" | "method", string>) {
  const values = [...ownIds, ...ownIds, ...hostileValues];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const additional = pick([[], ["locale"], ["acceptLanguage"], ["unknownArgument"]]);
  const args: Record<string, unknown> = Object.fromEntries(
    [...names, ...additional].map((name) => [name, pick(values)]),
  );
  if (method === "GET") return args;
  return {
    ...args,
    body: pick<unknown>([{}, { reason: "test" }, { code: "X" }, pick(values)]),
    idempotencyKey: pick<unknown>([randomUUID(), pick(values)]),
  };
}

it(
  `none of ${callCount} hostile tool calls exceeds the rights of its key`,
  { timeout: 1_800_000 },
  async () => {
    const { operations } = await readContract(world());
    const forbidden: string[] = [];
    let succeeded = 0;
    for (let call = 0; call < callCount; call += 1) {
      const operation = pick(operations);
      const caller = pick(callers);
      const args = createHostileArguments(operation);
      const result = await caller.client.callTool({ name: operation.operationId, arguments: args });
      const text = JSON.stringify(result.content);
      const report = `${caller.name} ${operation.operationId} ${JSON.stringify(args)}: ${text}`;
      if (/internal_error|\/src\//.test(text)) forbidden.push(report);
      if (result.isError === true) continue;
      succeeded += 1;
      const scope = operation["x-required-scope"] ?? "none";
      const isForeign = caller.name === "otherMerchant" && ownIds.some((id) => text.includes(id));
      if (isForeign || (scope !== "none" && !caller.scopes.includes(scope))) forbidden.push(report);
    }
    expect(forbidden).toEqual([]);
    // Some calls must succeed, otherwise the test would prove nothing.
    expect(succeeded).toBeGreaterThan(callCount / 50);
  },
);
