/** The schema of merchants.json: the demo's two merchants with their markets, policies and categories. */
import { z } from "zod";
import { localizedText, nonEmptyText, nonNegativeInteger } from "./data-file.ts";

const policyFields = { summaries: localizedText, url: nonEmptyText.nullable() };
/**
 * A policy of a merchant, for example on returns. The rules and the texts of a policy must have the same
 * meaning: the service applies the rules, and buyers read the texts.
 */
const policy = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("cancellation"),
    ...policyFields,
    rules: z.strictObject({
      mode: z.enum(["immediate", "request", "none"]),
      windowMinutes: nonNegativeInteger,
      afterWindow: z.enum(["request", "deny"]),
    }),
  }),
  z.strictObject({
    type: z.literal("return"),
    ...policyFields,
    rules: z.strictObject({
      windowDays: nonNegativeInteger,
      exchangeWindowDays: nonNegativeInteger.nullable(),
      methods: z.array(z.enum(["mail", "store", "pickup", "keep_item"])).exactOptional(),
      returnShippingMinor: nonNegativeInteger.exactOptional(),
    }),
  }),
  z.strictObject({
    type: z.literal("withdrawal"),
    ...policyFields,
    rules: z.strictObject({ windowDays: nonNegativeInteger }),
  }),
  z.strictObject({
    type: z.literal("warranty"),
    ...policyFields,
    rules: z.strictObject({
      months: nonNegativeInteger,
      repairs: nonNegativeInteger.exactOptional(),
      replacements: nonNegativeInteger.exactOptional(),
    }),
  }),
]);
export type DemoPolicy = z.infer<typeof policy>;

const taxRate = z.strictObject({
  country: nonEmptyText,
  regionCode: nonEmptyText.nullable(),
  name: nonEmptyText,
  basisPoints: nonNegativeInteger,
  appliesToShipping: z.boolean(),
});
const delivery = z.strictObject({
  code: nonEmptyText,
  names: localizedText,
  carrier: nonEmptyText.nullable(),
  pickup: z.literal(true).exactOptional(),
  priceMinor: nonNegativeInteger,
  freeFromMinor: nonNegativeInteger.nullable(),
  /** The shortest and the longest delivery time of a delivery method, in days. */
  days: z.tuple([nonNegativeInteger, nonNegativeInteger]),
});
const market = z.strictObject({
  handle: nonEmptyText,
  name: nonEmptyText,
  /**
   * The index of this market's price in `DemoProductPricesByMarket`, the list of a product's prices in all
   * markets.
   */
  amountIndex: z.literal([0, 1, 2]),
  currency: nonEmptyText,
  taxIncluded: z.boolean(),
  defaultLocale: nonEmptyText,
  timeZone: nonEmptyText,
  countries: z.array(nonEmptyText).min(1),
  taxRates: z.array(taxRate),
  delivery: z.array(delivery),
  /**
   * Policies that apply only in this market. Each replaces the policy of the same type that the merchant has
   * for all markets.
   */
  policies: z.array(policy),
});
export type DemoMarket = z.infer<typeof market>;

const category = z.strictObject({
  /** The category's slug, by which the products of catalog.json refer to the category. */
  slug: nonEmptyText,
  names: localizedText,
  get children() {
    return z.array(category).exactOptional();
  },
});
export type DemoCategoryEntry = z.infer<typeof category>;

export const demoMerchantSchema = z.strictObject({
  slug: nonEmptyText,
  name: nonEmptyText,
  markets: z.array(market),
  policies: z.array(policy),
  /**
   * The merchant's product families, in the order in which their products are added. Each is a key of
   * `families` in catalog.json.
   */
  families: z.array(nonEmptyText),
  categories: z.array(category),
});
export const merchantsFileSchema = z.strictObject({ first: demoMerchantSchema, second: demoMerchantSchema });
