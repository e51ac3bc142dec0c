/**
 * A client of the service with its requests: carts of variants that never run out of stock, and promotion
 * codes. The client uses only HTTP. The function `ask` sends requests over a socket, or directly to an app in
 * the same process.
 */
import { randomUUID } from "node:crypto";
import type { DemoFile } from "#demo/demo-file.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

/** Sends a request. Throws if there is no answer. */
export type Ask = (request: HttpRequest) => Promise<HttpAnswer>;

export type DemoCredentials = Pick<DemoFile, "keys" | "tokens" | "staff" | "oauthClient">;

export interface Shop {
  readonly access: DemoCredentials;
  /** Variants that are sold in Germany, with more stock than the whole load can buy. */
  readonly variantIds: readonly string[];
  readonly codes: readonly string[];
}

/** A write request with its idempotency key. A retry sends the same bytes again. */
export interface Write {
  readonly key: string;
  readonly request: HttpRequest;
}

const json = { "content-type": "application/json" };
const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};

/** Creates a REST request that changes the address or the promotion of a cart. */
export function restWrite(
  { access }: Pick<Shop, "access">,
  {
    method,
    cartId,
    path,
    body,
  }: {
    readonly method: "PUT" | "DELETE";
    readonly cartId: string;
    readonly path: string;
    readonly body: unknown;
  },
): Write {
  const key = randomUUID();
  const headers = { ...json, authorization: `Bearer ${access.keys.full}`, "idempotency-key": key };
  return {
    key,
    request: {
      method,
      url: `/api/v1/open/storefront/carts/${cartId}${path}`,
      headers,
      body: JSON.stringify(body),
    },
  };
}

export interface Mutation {
  readonly token: "storefront" | "admin";
  /** The document. Its variables are `$key` and those in `variables`. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function graphqlWrite(
  { access }: Pick<Shop, "access">,
  { token, query, variables }: Mutation,
  key: string = randomUUID(),
): Write {
  const headers = { ...json, authorization: `Bearer ${access.tokens[token]}` };
  return {
    key,
    request: {
      method: "POST",
      url: "/graphql",
      headers,
      body: JSON.stringify({ query, variables: { ...variables, key } }),
    },
  };
}

export const addressWrite = (
  shop: Shop,
  cartId: string,
  more: Readonly<Record<string, unknown>> = {},
): Write => restWrite(shop, { method: "PUT", cartId, path: "/address", body: { address: address, ...more } });

export const cartFields =
  "id version lines { id variantId quantity } promotion { promotion { code } } delivery { options { id } }";

export function cartWrite(
  shop: Shop,
  { mutation, input, cartId }: { readonly mutation: string; readonly input: object; readonly cartId: string },
): Write {
  const type = `${mutation.slice(0, 1).toUpperCase()}${mutation.slice(1)}Input`;
  const query = `mutation ($cartId: ID!, $key: String, $input: ${type}!) {
    ${mutation}(cartId: $cartId, idempotencyKey: $key, input: $input) { ${cartFields} }
  }`;
  return graphqlWrite(shop, { token: "storefront", query, variables: { cartId, input } });
}

const stockAdjust =
  "mutation ($key: String!, $input: StockAdjustInput!) { stockAdjust(idempotencyKey: $key, input: $input) { id } }";

/** Creates a stock change. The note of its movement is the key, so that the effects of a key can be counted. */
export function stockWrite(shop: Pick<Shop, "access">, variantId: string, delta = 1): Write {
  const key = randomUUID();
  return graphqlWrite(
    shop,
    {
      token: "admin",
      query: stockAdjust,
      variables: { input: { variantId, delta, reason: "RECEIVED", note: key } },
    },
    key,
  );
}

export interface ParsedAnswer {
  readonly status: number;
  readonly code: string | undefined;
  readonly isReplay: boolean;
  readonly requestId: string;
  readonly text: string;
}

/** Reads the status and error code of an answer. GraphQL has them in the body, with HTTP status 200. */
export function readAnswer({ status, headers, text }: HttpAnswer): ParsedAnswer {
  const body = parse(text);
  const code = body.error?.code ?? body.errors?.[0]?.extensions.code;
  return {
    status: code === undefined || status !== 200 ? status : statusOfCode(code),
    code,
    isReplay: headers["idempotent-replayed"] === "true",
    requestId: headers["x-request-id"] ?? "",
    text,
  };
}

interface AnyBody {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string };
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

function parse(text: string): AnyBody {
  try {
    return JSON.parse(text) as AnyBody;
  } catch {
    return {};
  }
}

const statuses: Readonly<Record<string, number>> = {
  idempotency_in_progress: 409,
  cart_version_conflict: 409,
  invalid_state: 409,
  invalid_field: 400,
  service_unavailable: 503,
};
const statusOfCode = (code: string): number => statuses[code] ?? 500;

/** Returns `data` of a successful answer; throws for any other answer. */
export function requireData({ status, code, text }: ParsedAnswer): Readonly<Record<string, unknown>> {
  if (status !== 200 || code !== undefined)
    throw new Error(`Refused with ${status} ${code ?? ""}: ${text.slice(0, 500)}`);
  return parse(text).data ?? {};
}

/** Runs a mutation once; throws if it fails. */
async function runMutation(
  ask: Ask,
  access: DemoCredentials,
  mutation: Mutation,
): Promise<Readonly<Record<string, unknown>>> {
  return requireData(readAnswer(await ask(graphqlWrite({ access }, mutation).request)));
}

const variantsWanted = 4;
const addedStock = 10_000_000;
const testQuantity = 200;

/** Finds variants that can be bought in large quantities, raises their stock, and creates promotion codes. */
export async function openShop(ask: Ask, access: DemoCredentials): Promise<Shop> {
  const found = await runMutation(ask, access, {
    token: "admin",
    query: "{ products(first: 30) { edges { node { variants { id } } } } }",
    variables: {},
  });
  const { edges } = found["products"] as {
    readonly edges: readonly { readonly node: { readonly variants: readonly { readonly id: string }[] } }[];
  };
  const variantIds: string[] = [];
  for (const { node } of edges) {
    const [variant] = node.variants;
    if (variant === undefined || variantIds.length === variantsWanted) continue;
    await ask(stockWrite({ access }, variant.id, addedStock).request);
    const opened = await createCart(ask, access, [{ variantId: variant.id, quantity: testQuantity }]);
    if (opened?.lines[0]?.quantity === testQuantity) variantIds.push(variant.id);
  }
  if (variantIds.length < variantsWanted)
    throw new Error("The demo has too few products that can be bought in large quantities.");
  return {
    access,
    variantIds,
    codes: [await createPromotionCode(ask, access, 1000), await createPromotionCode(ask, access, 500)],
  };
}

async function createPromotionCode(ask: Ask, access: DemoCredentials, basisPoints: number): Promise<string> {
  const code = `SOAK-${randomUUID().slice(0, 8)}`;
  const admin = (mutation: string, variables: object): Promise<Readonly<Record<string, unknown>>> =>
    runMutation(ask, access, { token: "admin", query: mutation, variables: { ...variables } });
  const created = await admin(
    "mutation ($input: PromotionCreateInput!) { promotionCreate(input: $input) { id } }",
    {
      input: { trigger: "CODE", kind: "PERCENTAGE", basisPoints, titles: [{ locale: "en", text: "Off" }] },
    },
  );
  const { id } = created["promotionCreate"] as { readonly id: string };
  await admin(
    "mutation ($input: PromotionCodesGenerateInput!) { promotionCodesGenerate(input: $input) { codes { code } } }",
    {
      input: { promotionId: id, codes: [code] },
    },
  );
  await admin("mutation ($id: ID!) { promotionActivate(input: { promotionId: $id }) { status } }", { id });
  return code;
}

export interface CartState {
  readonly id: string;
  readonly version: number;
  readonly lines: readonly { readonly id: string; readonly variantId: string; readonly quantity: number }[];
  readonly promotion: { readonly promotion: { readonly code: string } | null };
  readonly delivery: { readonly options: readonly { readonly id: string }[] } | null;
}

const cartCreate = `mutation ($key: String, $input: CartCreateInput!) {
  cartCreate(idempotencyKey: $key, input: $input) { ${cartFields} }
}`;

async function createCart(
  ask: Ask,
  access: DemoCredentials,
  lines: readonly { variantId: string; quantity: number }[],
): Promise<CartState | undefined> {
  const write = graphqlWrite(
    { access },
    { token: "storefront", query: cartCreate, variables: { input: { market: "DE", lines } } },
  );
  const answer = readAnswer(await ask(write.request));
  return answer.code === undefined ? (requireData(answer)["cartCreate"] as CartState) : undefined;
}

/** Creates a cart with one unit of the first variant. */
export async function openCart(ask: Ask, { access, variantIds }: Shop): Promise<CartState> {
  const cart = await createCart(ask, access, [{ variantId: variantIds[0] ?? "", quantity: 1 }]);
  if (cart === undefined) throw new Error("The cart could not be created.");
  return cart;
}
