/**
 * The parameters and bodies of the documentation's example requests, and the example answers. Ids and codes
 * are those of the demo data, or placeholders without a demo. Examples never contain an API key, because the
 * pages are public.
 */
import { readFileSync } from "node:fs";
import {
  type PartialDemoJsonFileContent,
  demoCartNames,
  demoDeliveryNames,
  type DemoJsonFileContent,
  demoOrderNames,
  demoSessionNames,
} from "#demo/demo-file.ts";
import type { OpenApiDocumentOperation } from "./api-document.ts";

export interface RequestExampleValues {
  /**
   * The example values of path and query parameters, by name. Query parameters that are not sent are left
   * out.
   */
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
  /**
   * The id of the cart whose current version the request sends as `expectedVersion`; null if the request
   * needs no version.
   */
  readonly versionOf: string | null;
  /**
   * The promotion code that is applied to the cart before the request removes a code; null for operations
   * that remove no code.
   */
  readonly codeBefore: string | null;
}

export interface RequestExampleProvider {
  readonly isDemo: boolean;
  of(operation: Pick<OpenApiDocumentOperation, "id" | "parameters">): RequestExampleValues;
}

const address = {
  recipientName: "Anna Lindqvist",
  line1: "Rosenthaler Str. 40",
  postalCode: "10178",
  city: "Berlin",
  countryCode: "DE",
};

const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  setPublicCartAddress: { address },
  removePublicCartPromotion: { reason: "buyer_request" },
  revokePublicCart: { reason: "test" },
  cancelHostedCheckoutSession: { reason: "buyer_abandoned" },
  createInstallationWebhook: { url: "https://hooks.shop.example/commerce", eventTypes: ["order.*"] },
  replayInstallationWebhookDelivery: { reason: "testing" },
};

const query = { q: "tent", locale: "en", market: "DE", sort: "relevance", page: "1", pageSize: "10" };

/**
 * The names of the demo carts that examples change or delete. Each example has its own cart, so that readers
 * can run the examples in any order.
 */
type CartName = "active" | "activeSecond" | "empty";
const cartOf: Readonly<Record<string, CartName>> = {
  removePublicCartPromotion: "activeSecond",
  revokePublicCart: "empty",
};
const destructive = new Set(Object.keys(cartOf));

type Known = Required<
  Pick<DemoJsonFileContent, "carts" | "sessions" | "orders" | "promotionCodes" | "webhooks" | "products">
>;

/** The placeholder ids, which are used if the service has no demo or an older demo.json lacks an id. */
const nowhere = {
  cart: "cart_01jgfj2v00fxtr0000000000c1",
  chs: "chs_01jgfj2v00fxtr0000000000s1",
  ord: "ord_01jgfj2v00fxtr0000000000d1",
  whe: "whe_01jgfj2v00fxtr0000000000e1",
  whd: "whd_01jgfj2v00fxtr0000000000h1",
} as const;

const always = <K extends string>(names: readonly K[], value: string): Record<K, string> =>
  Object.fromEntries(names.map((name) => [name, value])) as Record<K, string>;

const placeholders: Known = {
  carts: always(demoCartNames, nowhere.cart),
  sessions: always(demoSessionNames, nowhere.chs),
  orders: always(demoOrderNames, nowhere.ord),
  promotionCodes: { percentage: "WELCOME10" } as Known["promotionCodes"],
  webhooks: { endpoint: nowhere.whe, deliveries: always(demoDeliveryNames, nowhere.whd) },
  products: [
    { merchantSlug: "your-merchant", productSlug: "your-product", title: "Your product", sku: "YOUR-SKU" },
  ],
};

export function createRequestExampleProvider(
  demo: PartialDemoJsonFileContent | undefined,
): RequestExampleProvider {
  const present = Object.fromEntries(
    Object.entries(demo ?? {}).filter(([, part]) => part !== undefined),
  ) as Partial<Known>;
  const known: Known = { ...placeholders, ...present };
  return {
    isDemo: demo !== undefined,
    of: ({ id, parameters }) => {
      const all = parametersOf(known, id);
      const { percentage: code } = known.promotionCodes;
      return {
        parameters: Object.fromEntries(
          parameters.flatMap(({ name }) => (all[name] === undefined ? [] : [[name, all[name]] as const])),
        ),
        body: id === "applyPublicCartPromotion" ? { code } : (bodies[id] ?? null),
        versionOf: destructive.has(id) ? (all["cartId"] ?? null) : null,
        codeBefore: id === "removePublicCartPromotion" ? code : null,
      };
    },
  };
}

function parametersOf(
  { products: [product], carts, sessions, orders, webhooks }: Known,
  id: string,
): Readonly<Record<string, string>> {
  return {
    ...query,
    ...(product === undefined
      ? {}
      : { merchantSlug: product.merchantSlug, productSlug: product.productSlug }),
    cartId: carts[cartOf[id] ?? "active"],
    sessionId: sessions.open,
    orderId: orders[id.includes("AfterSales") ? "delivered" : "placed"],
    id: id.includes("Delivery") ? webhooks.deliveries.exhausted : webhooks.endpoint,
  };
}

/** The file with the stored example answers. `npm run generate` writes this file. */
const file = new URL("../../../schema/example-answers.json", import.meta.url);
/** The base URL in the stored example answers. The pages replace it by the URL of the service that shows them. */
export const storedAnswersBaseUrl = "https://commerce.example";

export type StoredExampleAnswerLookup = (operation: OpenApiDocumentOperation) => unknown;

/**
 * Creates a function that returns the stored answer of an operation, with the URL of this service and the ids
 * of the example request.
 */
export function createStoredExampleAnswerLookup({
  examples,
  publicUrl,
}: {
  readonly examples: RequestExampleProvider;
  readonly publicUrl: string;
}): StoredExampleAnswerLookup {
  const answers = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>;
  const atBuild = createRequestExampleProvider(undefined);
  return (operation) => {
    const answer = answers[operation.id];
    if (answer === undefined)
      throw new Error(`schema/example-answers.json has no ${operation.id}: npm run generate makes it.`);
    const [written, shown] = [atBuild.of(operation).parameters, examples.of(operation).parameters];
    const text = Object.keys(written)
      .filter((name) => /^id$|Id$/.test(name))
      .reduce(
        (all, name) => all.replaceAll(written[name] ?? "", shown[name] ?? ""),
        JSON.stringify(answer).replaceAll(storedAnswersBaseUrl, publicUrl),
      );
    return JSON.parse(text) as unknown;
  };
}

/** Shortens an answer so that it is easy to read: shortens long lists and texts, but keeps every field. */
const itemsMax = 2;
const textMax = 160;

export function shortenExampleAnswer(value: unknown): unknown {
  if (typeof value === "string") return value.length > textMax ? `${value.slice(0, textMax)}…` : value;
  if (Array.isArray(value)) return value.slice(0, itemsMax).map(shortenExampleAnswer);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortenExampleAnswer(part)]));
}
