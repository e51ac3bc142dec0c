/** The schema of sales.json: the demo's addresses, promotions, carts and searches. */
import { z } from "zod";
import { promotionKinds, promotionStatuses } from "#commerce/promotions/promotion-rule.ts";
import { demoCartNames, demoPromotionCodeKeys } from "#demo/demo-file.ts";
import { localizedText, nonEmptyText, nonNegativeInteger } from "./data-file.ts";

const merchantPosition = z.enum(["first", "second"]);

/** Names of the carts in demo.json, without the two carts that the order scenarios create. */
export const cartNamesWithoutCheckout = demoCartNames.filter(
  (name) => name !== "locked" && name !== "completed",
);
const cartKey = z.enum([...cartNamesWithoutCheckout, "mergedInto", "american", "japanese"]);
export type DemoCartKey = z.infer<typeof cartKey>;

/**
 * A cart without a checkout. sales.json has a cart in every status, two active carts for trying requests, and
 * two carts in other markets.
 */
const cart = z.strictObject({
  /** The cart's name in demo.json. The carts `mergedInto`, `american` and `japanese` are not in demo.json. */
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
  /** The promotion applies only in the market that sells to this country; in every market if left out. */
  country: nonEmptyText.exactOptional(),
  /** The numbers of days since the promotion started, and since it ended. */
  windowDaysAgo: z.tuple([nonNegativeInteger, nonNegativeInteger]).exactOptional(),
});
export type DemoPromotionEntry = z.infer<typeof promotion>;

/** Searches, each with its number of occurrences on an average day. */
const searchesSchema = z.array(
  z.strictObject({ query: nonEmptyText, country: nonEmptyText, perDay: nonNegativeInteger }),
);

export const salesFileSchema = z.strictObject({
  /**
   * The buyers' addresses: one for each country that the merchants sell to. The addresses are public places,
   * without the name of a person.
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
  /** Searches with results (`found`) and without results (`missed`). */
  searches: z.strictObject({ found: searchesSchema, missed: searchesSchema }),
});
