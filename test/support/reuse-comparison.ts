/**
 * Compares the answers about carts and orders of two services on the same database: of the service of the
 * world, which reuses carts, orders and results that are kept in memory, and of a service that keeps
 * nothing.
 */
import { print } from "graphql";
import { expect } from "vitest";
import { createServiceApp, type ServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys, publicUrl } from "./copies.ts";
import type { Engine } from "./databases.ts";
import { readInlined } from "./documents.ts";
import type { World } from "./world.ts";

/** Creates another service on the database of a world, for example one with other settings. */
export function createOtherService(
  { database, clock }: World,
  engine: Engine,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceApp> {
  const settings = parseServiceSettings({
    PORT: "4000",
    PUBLIC_URL: publicUrl,
    RATE_LIMIT_SCALE: "0",
    ENCRYPTION_KEYS: encryptionKeys,
    ...(engine === "postgres" ? { DATABASE_URL: "postgres://unused" } : {}),
    ...environment,
  });
  return createServiceApp({ settings, log: createLog("silent"), clock, database });
}

/** Reads an operation's document without the directives that only REST operations have. */
const readPlain = (path: string): string =>
  print(readInlined(path)).replace(/\s+@rest\(.*?\)\s+@requires\(.*?\)/s, "");

interface Read {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: object;
}

export interface ComparedObjects {
  readonly cartId: string;
  readonly orderId?: string | undefined;
  /** The buyer of both objects, whom the storefront names. */
  readonly buyer?: string;
  /** True to read each object only with one API key and as admin, in tests with many steps. */
  readonly isBrief?: boolean;
}

export interface ReuseComparison {
  /** Expects that both services give the same answers to all kinds of callers, and returns the answers. */
  readonly expectSameAnswers: (objects: ComparedObjects) => Promise<string[]>;
  /** How many answers were made from memory, and how many were not. */
  readonly uses: { hits: number; misses: number };
  readonly close: () => Promise<void>;
}

/** Fields of an order that depend on the caller, on the time, or on other tables. */
const furtherOrderFields = `query furtherOrderFields($id: ID!) { order(id: $id) {
  buyerReference holdReason timeline { type } cancellationRequest { note } returns { note }
  cancellationEligibility(languages: ["en"]) { decision deadline { at } } } }`;

export async function openReuseComparison(world: World, engine: Engine): Promise<ReuseComparison> {
  const plain = await createOtherService(world, engine, { RESPONSE_CACHE_MB: "0" });
  const uses = { hits: 0, misses: 0 };
  world.app.services.events.on("responseCacheUsed", (_operation, isHit) => {
    uses[isHit ? "hits" : "misses"] += 1;
  });
  const { keys, tokens } = world.demo;
  const rest = (url: string, key: string): Read => ({
    method: "GET",
    url: `/api/v1/open/storefront/${url}`,
    headers: { authorization: `Bearer ${key}` },
  });
  const graph = (query: string, variables: object, headers: Record<string, string>): Read => ({
    method: "POST",
    url: "/graphql",
    headers: { "content-type": "application/json", ...headers },
    payload: { query, variables },
  });
  const authorization = (name: keyof typeof tokens): Record<string, string> => ({
    authorization: `Bearer ${tokens[name]}`,
  });
  const cartDocument = readPlain("operations/carts/getPublicCart.graphql");
  const orderDocument = readPlain("operations/orders/getStorefrontOrder.graphql");
  const readsOf = ({ cartId, orderId, buyer = "buyer-1", isBrief = false }: ComparedObjects): Read[] => {
    const allCallers = [
      authorization("admin"),
      authorization("analyst"),
      { ...authorization("storefront"), "x-buyer-reference": buyer },
      { ...authorization("storefront"), "x-buyer-reference": "another-buyer" },
    ];
    const callers = isBrief ? allCallers.slice(0, 1) : allCallers;
    const found = isBrief ? [keys.full] : [keys.full, keys.catalogRead, keys.otherMerchant, keys.noScope];
    return [
      ...found.map((key) => rest(`carts/${cartId}`, key)),
      ...callers.map((headers) => graph(cartDocument, { cartId }, headers)),
      ...(orderId === undefined
        ? []
        : [
            ...found.map((key) => rest(`orders/${orderId}`, key)),
            ...callers.map((headers) => graph(orderDocument, { orderId }, headers)),
            graph(furtherOrderFields, { id: orderId }, authorization("admin")),
          ]),
    ];
  };
  const answerOf = async (app: ServiceApp, read: Read): Promise<string> => {
    const { statusCode, headers, body } = await app.server.inject(read);
    return `${statusCode} ${headers.etag ?? ""} ${body.replaceAll(/"requestId":"[^"]*"/g, "")}`;
  };
  return {
    uses,
    expectSameAnswers: async (objects) => {
      const reads = readsOf(objects);
      const answers: string[] = [];
      for (const read of reads) answers.push(await answerOf(world.app, read));
      const expected: string[] = [];
      for (const read of reads) expected.push(await answerOf(plain, read));
      expect(answers).toEqual(expected);
      return answers;
    },
    close: () => plain.close(),
  };
}
