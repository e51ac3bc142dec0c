/** The scenarios of carts: reading them, and giving them a promotion code. Both with an API key. */
import { Client } from "pg";
import { percentageCodes } from "./promotion-codes.ts";
import { keyPlaceholder } from "./idempotency-keys.ts";
import { type Ask, mixed, readDocument, type Scenario, type Source } from "./scenario.ts";

export const cartCount = 1000;
const changedCartsMax = 500;

const pathOf = (cartId: string): string => `/api/v1/open/storefront/carts/${cartId}`;

/** Nearly all of them seeded in bulk: a tenth with an address and delivery options, most of those with a code. */
export async function cartScenario(source: Source): Promise<Scenario> {
  const ids = await findCarts(source, { isPlain: false, limit: cartCount });
  const asks = ids.map((cartId): Ask => ({ method: "GET", path: pathOf(cartId), headers: keyOf(source), variables: { cartId } }));
  return { name: "cart", document: readDocument("carts/getPublicCart"), envelope: [], asks: mixed(asks), fault: () => undefined, effect: null };
}

/**
 * Every cart gets the one code, and when all have it the other: so each request changes its cart. The carts are those that the yardstick can
 * price: without an address, and where no promotion applies by itself.
 */
export async function promotionScenario(source: Source): Promise<Scenario> {
  const ids = mixed(await findCarts(source, { isPlain: true, limit: changedCartsMax }));
  const asks = percentageCodes.flatMap(({ code }) =>
    ids.map((cartId): Ask => {
      const body = { code };
      const headers = { ...keyOf(source), "idempotency-key": keyPlaceholder };
      return { method: "PUT", path: `${pathOf(cartId)}/promotion`, headers, body, variables: { cartId, body } };
    }),
  );
  const document = readDocument("carts/applyPublicCartPromotion");
  return { name: "promotion", document, envelope: [], asks, fault: unapplied, effect: { versionOf, withoutVersion } };
}

const keyOf = ({ apiKey }: Source): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

interface State {
  readonly data: { readonly cartVersion: number; readonly state: string };
}

const versionOf = (body: unknown): number => (body as State).data.cartVersion;

function withoutVersion(body: unknown): unknown {
  const { cartVersion: _version, ...data } = (body as State).data;
  return { ...(body as State), data };
}

function unapplied(body: unknown): string | undefined {
  const { state } = (body as State).data;
  return state === "applied" ? undefined : `the code is ${state}`;
}

interface Wanted {
  readonly isPlain: boolean;
  readonly limit: number;
}

/** Active ones of the merchant that has most, which is the one that was given carts in bulk; the few of the demo among them are carts like others. */
async function findCarts({ databaseUrl }: Source, { isPlain, limit }: Wanted): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ id: string }>(
      `select c.id from cart c where c.status = 'active' and c.expires_at > now() + interval '1 day'
         and c.merchant_id = (select merchant_id from cart group by merchant_id order by count(*) desc limit 1)
         and exists (select 1 from cart_line l where l.cart_id = c.id)
         and (not $1 or (c.address_id is null and not exists (select 1 from promotion p
           where p.merchant_id = c.merchant_id and p.trigger = 'automatic' and p.status = 'active' and (p.market_ids = '{}' or c.market_id = any(p.market_ids)))))
       order by c.id limit $2`,
      [isPlain, limit],
    )
    .finally(() => client.end());
  return rows.map(({ id }) => id);
}
