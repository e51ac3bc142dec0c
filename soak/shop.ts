/**
 * Creates the requests of the tests: carts with variants that never run out of stock, and promotion codes.
 * The functions have a parameter `ask`, which sends a request over a socket, or directly to an app in the
 * same process.
 */
import { randomUUID } from "node:crypto";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";

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
export type SendRequest = (request: HttpRequest) => Promise<HttpAnswer>;

export type DemoCredentials = Pick<DemoJsonFileContent, "keys" | "tokens" | "staff" | "oauthClient">;

export interface Shop {
  readonly access: DemoCredentials;
  /** Variants that are sold in Germany, with more stock than all clients together can buy. */
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
export function createRestWrite(
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
  /** The GraphQL document. Its variables are `$key` and the keys of `variables`. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function createGraphqlWrite(
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

export const createAddressWrite = (
  shop: Shop,
  cartId: string,
  more: Readonly<Record<string, unknown>> = {},
): Write =>
  createRestWrite(shop, { method: "PUT", cartId, path: "/address", body: { address: address, ...more } });

export const cartFields =
  "id version lines { id variantId quantity } promotion { promotion { code } } delivery { options { id } }";

export function createCartWrite(
  shop: Shop,
  { mutation, input, cartId }: { readonly mutation: string; readonly input: object; readonly cartId: string },
): Write {
  const type = `${mutation.slice(0, 1).toUpperCase()}${mutation.slice(1)}Input`;
  const query = `mutation ($cartId: ID!, $key: String, $input: ${type}!) {
    ${mutation}(cartId: $cartId, idempotencyKey: $key, input: $input) { ${cartFields} }
  }`;
  return createGraphqlWrite(shop, { token: "storefront", query, variables: { cartId, input } });
}

const stockAdjust =
  "mutation ($key: String!, $input: StockAdjustInput!) { stockAdjust(idempotencyKey: $key, input: $input) { id } }";

/** Creates a stock change. Its note is the idempotency key, so that stock movements can be counted by key. */
export function createStockWrite(shop: Pick<Shop, "access">, variantId: string, delta = 1): Write {
  const key = randomUUID();
  return createGraphqlWrite(
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

/**
 * Reads the status and error code of an answer. GraphQL answers have the error code in the body, with the
 * HTTP status 200; their status is derived from the code.
 */
export function parseAnswer({ status, headers, text }: HttpAnswer): ParsedAnswer {
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
  ask: SendRequest,
  access: DemoCredentials,
  mutation: Mutation,
): Promise<Readonly<Record<string, unknown>>> {
  return requireData(parseAnswer(await ask(createGraphqlWrite({ access }, mutation).request)));
}

const addedStock = 10_000_000;
const testQuantity = 200;

/** Finds variants that can be bought in large quantities, adds stock, and creates promotion codes. */
export async function openShop(ask: SendRequest, access: DemoCredentials, variantsWanted = 4): Promise<Shop> {
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
    await ask(createStockWrite({ access }, variant.id, addedStock).request);
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

async function createPromotionCode(
  ask: SendRequest,
  access: DemoCredentials,
  basisPoints: number,
): Promise<string> {
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
  ask: SendRequest,
  access: DemoCredentials,
  lines: readonly { variantId: string; quantity: number }[],
): Promise<CartState | undefined> {
  const write = createGraphqlWrite(
    { access },
    { token: "storefront", query: cartCreate, variables: { input: { market: "DE", lines } } },
  );
  const answer = parseAnswer(await ask(write.request));
  return answer.code === undefined ? (requireData(answer)["cartCreate"] as CartState) : undefined;
}

/** Creates a cart with one unit of the first variant. */
export async function openCart(ask: SendRequest, { access, variantIds }: Shop): Promise<CartState> {
  const cart = await createCart(ask, access, [{ variantId: variantIds[0] ?? "", quantity: 1 }]);
  if (cart === undefined) throw new Error("The cart could not be created.");
  return cart;
}
