/**
 * The shapes of the answers, written by hand from the contract: every field is named, and no other field is
 * allowed.
 */
import { expect } from "vitest";
import { z } from "zod";

export const id = (prefix: string): z.ZodString =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
export const timestamp = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
export const locale = z.string().regex(/^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$/);
export const country = z.string().regex(/^[A-Z]{2}$/);
export const currency = z.string().regex(/^[A-Z]{3}$/);
export const slug = z
  .string()
  .min(1)
  .max(96)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
const money = z.strictObject({ amountMinor: z.int(), currency, exponent: z.int().min(0).max(3) });
const range = z.strictObject({ min: money, max: money });
export const availability = z.enum([
  "in_stock",
  "low_stock",
  "backorder",
  "preorder",
  "out_of_stock",
  "discontinued",
]);
const image = z.strictObject({ url: z.url(), alt: z.string().nullable(), width: z.int(), height: z.int() });

const summary = {
  id: id("prd"),
  slug,
  locale,
  title: z.string().min(1).max(200),
  summary: z.string().max(300).nullable(),
  brand: z.string().nullable(),
  merchant: z.strictObject({ id: id("mer"), slug, name: z.string() }),
  categories: z.array(z.strictObject({ slug, name: z.string() })),
  image: image.nullable(),
  priceRange: range.nullable(),
  compareAtRange: range.nullable(),
  availability,
  variantCount: z.int().min(1),
  rating: z.strictObject({ average: z.number().min(0).max(5), count: z.int() }).nullable(),
  publishedAt: timestamp,
  updatedAt: timestamp,
};

export const identityAnswer = z.strictObject({
  data: z.strictObject({
    credential: z.literal("api_key"),
    apiKey: z.strictObject({
      id: id("key"),
      name: z.string(),
      prefix: z.string().regex(/^cpk_(live|test)_[0-9A-Za-z]{12}$/),
      mode: z.enum(["live", "test"]),
      scopes: z.array(z.enum(["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"])),
      createdAt: timestamp,
      expiresAt: timestamp.nullable(),
      lastUsedAt: timestamp.nullable(),
      rotatesTo: id("key").nullable(),
    }),
    oauthGrant: z.null(),
    installation: z.strictObject({
      id: id("ins"),
      status: z.enum(["active", "suspended"]),
      installedAt: timestamp,
    }),
    app: z.strictObject({ id: id("app"), name: z.string(), publisher: z.string().nullable() }),
    merchant: z.strictObject({
      id: id("mer"),
      slug,
      name: z.string(),
      defaultLocale: locale,
      defaultMarket: country,
      currencies: z.array(currency),
    }),
    limits: z.array(z.strictObject({ bucket: z.string(), quota: z.int(), windowSeconds: z.int() })),
    api: z.strictObject({ version: z.literal("v1"), serverTime: timestamp }),
  }),
});

const scopeNames = z.array(z.enum(["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"]));

export const readinessAnswer = z.strictObject({
  data: z.strictObject({
    status: z.enum(["ready", "degraded", "action_required", "blocked"]),
    evaluatedAt: timestamp,
    installationId: id("ins"),
    requiredScopes: scopeNames,
    grantedScopes: scopeNames,
    missingScopes: scopeNames,
    checks: z
      .array(
        z.strictObject({
          code: z.string(),
          status: z.enum(["pass", "warn", "fail", "skipped"]),
          severity: z.enum(["blocking", "advisory"]),
          message: z.string().min(1),
          remedy: z.string().nullable(),
          since: timestamp.nullable(),
        }),
      )
      .length(12),
    nextActionAt: timestamp.nullable(),
  }),
});

export const listAnswer = z.strictObject({
  data: z.array(z.strictObject(summary)),
  meta: z.strictObject({
    returned: z.int(),
    total: z.int(),
    truncated: z.boolean(),
    limit: z.literal(500),
    order: z.literal("published_at_desc"),
    locale,
    market: country,
    currency,
    catalogVersion: z.int(),
    notice: z.string().nullable(),
    generatedAt: timestamp,
  }),
});

export const searchAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      ...summary,
      score: z.number(),
      matched: z.array(z.enum(["sku", "title", "brand", "category", "description"])),
      highlights: z.strictObject({ title: z.string().nullable() }),
    }),
  ),
  meta: z.strictObject({
    page: z.int(),
    pageSize: z.int(),
    totalItems: z.int(),
    totalItemsRelation: z.enum(["exact", "at_least"]),
    totalPages: z.int(),
    hasNextPage: z.boolean(),
    sort: z.enum(["relevance", "newest", "price_asc", "price_desc", "title_asc", "popularity"]),
    locale: z.strictObject({ requested: locale, resolved: locale }),
    market: country,
    currency: currency.nullable(),
    facets: z.array(
      z.strictObject({
        key: z.enum(["category", "merchant", "brand", "availability", "price"]),
        buckets: z
          .array(z.strictObject({ value: z.string(), label: z.string(), count: z.int().min(1) }))
          .max(20),
      }),
    ),
    query: z.strictObject({
      normalized: z.string(),
      corrected: z.string().nullable(),
      dropped: z.array(z.string()),
    }),
    indexedAt: timestamp,
  }),
});

const variant = z.strictObject({
  id: id("var"),
  sku: z.string(),
  gtin: z.string().nullable(),
  title: z.string(),
  options: z.record(z.string(), z.string()),
  image: image.nullable(),
  offers: z.array(
    z.strictObject({
      market: country,
      price: money,
      compareAt: money.nullable(),
      lowest30d: money.nullable(),
    }),
  ),
  availability,
  maxOrderQuantity: z.int().nullable(),
  restrictions: z.array(
    z.enum([
      "age_18",
      "hazmat",
      "no_returns",
      "final_sale",
      "custom_made",
      "perishable",
      "hygiene_sealed",
      "digital",
      "gift_card",
    ]),
  ),
  weightGrams: z.int().nullable(),
});

export const productAnswer = z.strictObject({
  data: z.strictObject({
    ...summary,
    description: z.strictObject({ format: z.literal("markdown"), text: z.string().max(20_000) }).nullable(),
    localizedSlugs: z.array(z.strictObject({ locale, slug })),
    media: z
      .array(
        z.strictObject({
          type: z.enum(["image", "video"]),
          url: z.url(),
          alt: z.string().nullable(),
          width: z.int(),
          height: z.int(),
          position: z.int(),
        }),
      )
      .max(50),
    options: z.array(
      z.strictObject({
        code: z.string(),
        name: z.string(),
        values: z.array(z.strictObject({ code: z.string(), label: z.string() })),
      }),
    ),
    variants: z.array(variant).min(1).max(200),
    offers: z.array(
      z.strictObject({ market: country, currency, taxIncluded: z.boolean(), min: money, max: money }),
    ),
    attributes: z.array(
      z.strictObject({
        code: z.string(),
        name: z.string(),
        value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
        unit: z.string().nullable(),
      }),
    ),
    seo: z.strictObject({ title: z.string().nullable(), description: z.string().nullable() }).nullable(),
    policies: z.array(
      z.strictObject({
        type: z.enum(["return", "warranty", "cancellation"]),
        summary: z.string(),
        url: z.url().nullable(),
      }),
    ),
    structuredData: z.looseObject({
      "@context": z.literal("https://schema.org"),
      "@type": z.literal("Product"),
    }),
    status: z.literal("published"),
  }),
});

export function expectShape(shape: z.ZodType, body: unknown): void {
  expect(shape.safeParse(body).error?.issues ?? []).toEqual([]);
}
