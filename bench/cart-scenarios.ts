/** Creates the scenarios of carts: reading carts over REST or GraphQL, and applying promotion codes. */
import { Client } from "pg";
import { percentageCodes } from "./promotion-codes.ts";
import { keyPlaceholder } from "./idempotency-keys.ts";
import {
  type BenchRequest,
  shuffleWithFixedSeed,
  readDocument,
  type Scenario,
  type ScenarioSource,
} from "./scenario.ts";

const changedCartsMax = 500;

const pathOf = (cartId: string): string => `/api/v1/open/storefront/carts/${cartId}`;

/**
 * Creates the scenario `cart`: reads generated carts over REST. A tenth of the carts has an address and
 * delivery options; most of these carts have a promotion code.
 */
export async function createCartScenario(source: ScenarioSource): Promise<Scenario> {
  const carts = await findCarts(source, { isPlain: false, limit: source.requestsMax });
  const requests = carts.map(({ id: cartId }): BenchRequest => ({
    method: "GET",
    path: pathOf(cartId),
    headers: keyOf(source),
    variables: { cartId },
  }));
  return { ...readScenario, name: "cart", requests: shuffleWithFixedSeed(requests) };
}

/**
 * Creates the scenario `graphql`: reads the same carts and fields by POST /graphql, with the token of a
 * storefront, and with the buyer reference of a cart that has a buyer.
 */
export async function createGraphqlScenario(source: ScenarioSource): Promise<Scenario> {
  const carts = await findCarts(source, { isPlain: false, limit: source.requestsMax });
  const requests = carts.map(({ id: cartId, buyer }): BenchRequest => {
    const reference = buyer === null ? {} : { "x-buyer-reference": buyer };
    const internalHeaders = { authorization: `Bearer ${source.storefrontToken}`, ...reference };
    return {
      method: "GET",
      path: pathOf(cartId),
      headers: keyOf(source),
      internalHeaders,
      variables: { cartId },
    };
  });
  return { ...readScenario, name: "graphql", isInternal: true, requests: shuffleWithFixedSeed(requests) };
}

const readScenario = {
  document: readDocument("carts/getPublicCart"),
  envelope: [],
  fault: () => undefined,
  effect: null,
};

/**
 * Creates the scenario `promotion`: applies one code to all carts and then another code, in turn, so that
 * each request changes its cart. Uses only carts that the yardstick can price: without an address and without
 * automatic promotions.
 */
export async function createPromotionScenario(source: ScenarioSource): Promise<Scenario> {
  const carts = shuffleWithFixedSeed(await findCarts(source, { isPlain: true, limit: changedCartsMax }));
  const requests = percentageCodes.flatMap(({ code }) =>
    carts.map(({ id: cartId }): BenchRequest => {
      const body = { code };
      const headers = { ...keyOf(source), "idempotency-key": keyPlaceholder };
      return {
        method: "PUT",
        path: `${pathOf(cartId)}/promotion`,
        headers,
        body,
        variables: { cartId, body },
      };
    }),
  );
  const document = readDocument("carts/applyPublicCartPromotion");
  return {
    name: "promotion",
    document,
    envelope: [],
    requests,
    fault: unappliedFault,
    effect: { versionOf, withoutVersion },
  };
}

const keyOf = ({ apiKey }: ScenarioSource): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

interface State {
  readonly data: { readonly cartVersion: number; readonly state: string };
}

const versionOf = (body: unknown): number => (body as State).data.cartVersion;

function withoutVersion(body: unknown): unknown {
  const { cartVersion: _version, ...data } = (body as State).data;
  return { ...(body as State), data };
}

function unappliedFault(body: unknown): string | undefined {
  const { state } = (body as State).data;
  return state === "applied" ? undefined : `the code is ${state}`;
}

interface CartSelection {
  readonly isPlain: boolean;
  readonly limit: number;
}

interface FoundCart {
  readonly id: string;
  readonly buyer: string | null;
}

/**
 * Finds active carts of the merchant with generated carts, which is the merchant with most carts. The order
 * by a hash selects carts from the whole table.
 */
async function findCarts(
  { databaseUrl }: ScenarioSource,
  { isPlain, limit }: CartSelection,
): Promise<FoundCart[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<FoundCart>(
      `select c.id, c.buyer_reference as buyer from cart c
       where c.status = 'active' and c.expires_at > now() + interval '1 day'
         and c.merchant_id = (select merchant_id from cart group by merchant_id order by count(*) desc limit 1)
         and exists (select 1 from cart_line l where l.cart_id = c.id)
         and (not $1 or (c.address_id is null and not exists (select 1 from promotion p
           where p.merchant_id = c.merchant_id and p.trigger = 'automatic' and p.status = 'active'
             and (p.market_ids = '{}' or c.market_id = any(p.market_ids)))))
       order by md5(c.id) limit $2`,
      [isPlain, limit],
    )
    .finally(() => client.end());
  return rows;
}
