/**
 * The carts of a history, and the operations that create and read them. The version of a cart, the quantity
 * of each variant, the promotion code and the status are registers. The lines of the variants that are only
 * added are a list, because a new line is appended to the lines of the cart. Reads over REST and answers of
 * changes show all of them at one moment.
 */
import { type CartState, cartFields, createGraphqlWrite, type Shop } from "../shop.ts";
import { type HistoryStep, unwritten } from "./history.ts";
import { type RecordedRequest, toVersionedRead, toVersionedWrite } from "./recorder.ts";

export interface SharedCart {
  readonly id: string;
  readonly shop: Shop;
  /** The newest known state. */
  seen: CartState;
  /** The variants that no client has added to the cart yet, and that no client removes. */
  readonly unadded: string[];
  /** The number of operations that were sent; the cart is replaced after a maximum. */
  sent: number;
  /** The last quantity that was given to a line. Every quantity is used once. */
  quantity: number;
}

/** The number of variants whose quantities are added up, set and removed; the others are only added. */
const removableVariants = 3;
export const removableVariantsOf = ({ variantIds }: Shop): readonly string[] =>
  variantIds.slice(0, removableVariants);

/** The value of a register after the removal of what it had. */
export const noValue = "noValue";

export const cartVersionOf = (id: string): string => `version of ${id}`;
export const cartLinesOf = (id: string): string => `lines of ${id}`;
export const cartQuantityOf = (id: string, variantId: string): string => `quantity of ${variantId} in ${id}`;
export const cartCodeOf = (id: string): string => `promotion code of ${id}`;
export const cartStatusOf = (id: string): string => `status of ${id}`;

export const cartResultOf = (data: Readonly<Record<string, unknown>>): CartState =>
  Object.values(data)[0] as CartState;

/** Creates a cart with one removable variant. `onCreated` is called with the cart. */
export function createCartOperation(shop: Shop, onCreated: (cart: SharedCart) => void): RecordedRequest {
  const query = `mutation ($key: String, $input: CartCreateInput!) {
    cartCreate(idempotencyKey: $key, input: $input) { ${cartFields} } }`;
  const lines = [{ variantId: shop.variantIds[0] ?? "", quantity: 1 }];
  const variables = { input: { market: "DE", lines } };
  return {
    name: "create a cart",
    request: createGraphqlWrite(shop, { token: "storefront", query, variables }).request,
    intended: [],
    toSteps: (data) => {
      const cart = cartResultOf(data);
      const { id } = cart;
      const unadded = shop.variantIds.slice(removableVariants);
      onCreated({ id, shop, seen: cart, unadded, sent: 0, quantity: 10 });
      return [
        { kind: "write", object: cartStatusOf(id), value: "active" },
        toVersionedWrite(cartVersionOf(id), cart.version, cart.version),
        toVersionedWrite(cartCodeOf(id), noValue, cart.version),
        ...removableVariantsOf(shop).map((variantId, index) =>
          toVersionedWrite(cartQuantityOf(id, variantId), index === 0 ? 1 : noValue, cart.version),
        ),
      ];
    },
  };
}

/** Returns the steps of an operation that read the whole cart. */
export function toCartReads({ id, shop }: SharedCart, cart: CartState): HistoryStep[] {
  const { version, lines, promotion } = cart;
  const removable = removableVariantsOf(shop);
  const quantities = new Map(lines.map(({ variantId, quantity }) => [variantId, quantity]));
  const kept = lines.filter(({ variantId }) => !removable.includes(variantId));
  return [
    toVersionedRead(cartVersionOf(id), version, version),
    { kind: "readList", object: cartLinesOf(id), values: kept.map(({ variantId }) => variantId) },
    toVersionedRead(cartCodeOf(id), promotion.promotion?.code ?? noValue, version),
    ...removable.map((variantId) =>
      toVersionedRead(cartQuantityOf(id, variantId), quantities.get(variantId) ?? noValue, version),
    ),
    ...kept.map(({ variantId, quantity }) =>
      toVersionedRead(cartQuantityOf(id, variantId), quantity, version),
    ),
  ];
}

export function noteSeenCart(cart: SharedCart, next: CartState): void {
  if (next.version > cart.seen.version) cart.seen = next;
}

/** Reads a cart over REST. */
export function readCartOperation(cart: SharedCart): RecordedRequest {
  const headers = { authorization: `Bearer ${cart.shop.access.keys.full}` };
  const url = `/api/v1/open/storefront/carts/${cart.id}`;
  return {
    name: "read a cart",
    request: { method: "GET", url, headers, body: undefined },
    intended: [],
    toSteps: (data) => {
      const read = data as unknown as CartState;
      noteSeenCart(cart, read);
      return toCartReads(cart, read);
    },
  };
}

/** Returns the steps of reading one cart of a pair; a cart that is not found was not created yet. */
function toPairSteps(cart: SharedCart, found: unknown): HistoryStep[] {
  if (found === null) return [{ kind: "read", object: cartStatusOf(cart.id), value: unwritten }];
  const read = found as CartState & { readonly status: string };
  return [
    { kind: "read", object: cartStatusOf(cart.id), value: read.status.toLowerCase() },
    // The source of a merge is no longer a shared cart, and only its status has changed.
    ...(read.status === "MERGED" ? [] : toCartReads(cart, read)),
  ];
}

/** Reads two carts, and their statuses, in one GraphQL query. */
export function readTwoCartsOperation(
  carts: readonly [SharedCart, SharedCart],
  token: "storefront" | "analyst" = "storefront",
): RecordedRequest {
  const [one, other] = carts;
  const query = `query ($one: ID!, $other: ID!) {
    one: cart(id: $one) { status ${cartFields} } other: cart(id: $other) { status ${cartFields} } }`;
  const { access } = one.shop;
  return {
    name: "read two carts",
    request: {
      method: "POST",
      url: "/graphql",
      headers: { "content-type": "application/json", authorization: `Bearer ${access.tokens[token]}` },
      body: JSON.stringify({ query, variables: { one: one.id, other: other.id } }),
    },
    intended: [],
    toSteps: (data) => carts.flatMap((cart, index) => toPairSteps(cart, data[index === 0 ? "one" : "other"])),
  };
}
