/** The schema of sales.json: the demo's addresses, promotions, carts and searches. */
import { z } from "zod";
import { promotionKinds, promotionStatuses } from "#commerce/promotions/promotion-rule.ts";
import { demoCartNames, demoPromotionCodeKeys } from "#demo/demo-file.ts";
import { localizedText, nonEmptyText, nonNegativeInteger } from "./data-file.ts";

const merchantPosition = z.enum(["first", "second"]);

/**
 * The carts of sales.json, by their names in demo.json. The demo's two carts with a checkout are not in this
 * list, because the order scenarios create them.
 */
export const cartNamesWithoutCheckout = demoCartNames.filter(
  (name) => name !== "locked" && name !== "completed",
);
const cartKey = z.enum([...cartNamesWithoutCheckout, "mergedInto", "american", "japanese"]);
export type DemoCartName = z.infer<typeof cartKey>;

/**
 * A cart for which no checkout was started. sales.json has one cart for every possible status, a second
 * active cart for trying requests, and two carts in other markets.
 */
const cart = z.strictObject({
  /**
   * The name of the demo cart. The file demo.json lists the cart's id under this name, except for the carts
   * `mergedInto`, `american` and `japanese`, which it does not list.
   */
  key: cartKey,
  owner: merchantPosition,
  country: nonEmptyText,
  lines: z.array(z.tuple([nonEmptyText, nonNegativeInteger.min(1)])),
  buyer: z.strictObject({ reference: nonEmptyText, email: nonEmptyText }).exactOptional(),
  isAddressed: z.literal(true).exactOptional(),
  code: z.enum(demoPromotionCodeKeys).exactOptional(),
  state: z.discriminatedUnion("status", [
    z.strictObject({ status: z.enum(["active", "expired"]) }),
    z.strictObject({ status: z.literal("revoked"), note: nonEmptyText }),
    z.strictObject({ status: z.literal("merged"), into: cartKey }),
  ]),
  minutesSinceChange: nonNegativeInteger,
  minutesFromCreationToChange: nonNegativeInteger,
});
export type DemoCartEntry = z.infer<typeof cart>;

const promotion = z.strictObject({
  /** The promotion's code; null if the promotion is automatic. */
  code: z.strictObject({ name: z.enum(demoPromotionCodeKeys), text: nonEmptyText }).nullable(),
  owner: merchantPosition,
  kind: z.enum(promotionKinds),
  status: z.enum(promotionStatuses),
  titles: localizedText,
  values: z
    .strictObject({
      basisPoints: nonNegativeInteger,
      amountMinor: nonNegativeInteger,
      currency: nonEmptyText,
      minimumSubtotalMinor: nonNegativeInteger,
      usageLimit: nonNegativeInteger,
    })
    .exactPartial(),
  /** The country for whose market the promotion is valid; left out if the promotion is valid in every market. */
  country: nonEmptyText.exactOptional(),
  /** The start and the end of the promotion, each as a number of days before today. */
  windowDaysAgo: z.tuple([nonNegativeInteger, nonNegativeInteger]).exactOptional(),
});
export type DemoPromotionEntry = z.infer<typeof promotion>;

/** Search queries of buyers, each with the average number of times per day that it is searched for. */
const searchesSchema = z.array(
  z.strictObject({ query: nonEmptyText, country: nonEmptyText, perDay: nonNegativeInteger }),
);

export const salesFileSchema = z.strictObject({
  /**
   * The addresses of the demo's buyers: one for each country to which the merchants sell. They are addresses
   * of public places, without the name of a person.
   */
  addresses: z.array(
    z.strictObject({
      recipientName: nonEmptyText,
      line1: nonEmptyText,
      postalCode: nonEmptyText,
      city: nonEmptyText,
      regionCode: nonEmptyText.exactOptional(),
      countryCode: nonEmptyText,
    }),
  ),
  promotions: z.array(promotion),
  carts: z.array(cart),
  /** Search queries that find products (`found`) and search queries that find none (`missed`). */
  searches: z.strictObject({ found: searchesSchema, missed: searchesSchema }),
});
