/**
 * Creates examples of event subjects from their schemas: deterministic, with every field, and short enough to
 * read.
 */
import type { RestOperationsAndOpenApiDocument } from "#gateway/api-description.ts";
import { getEventObjectSchemaName, eventSubjectTypes } from "#webhooks/event-catalogue.ts";

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** The share of the 4 KiB limit of a body that the subject may use, in bytes. */
const bytesMax = 3_400;

/**
 * Uses the first variant that is small enough: lists with one element each, then only the subject's own
 * lists, then empty lists.
 */
const levels = [
  { listDepth: 9, isNullPreferred: false },
  { listDepth: 1, isNullPreferred: false },
  { listDepth: 1, isNullPreferred: true },
  { listDepth: 0, isNullPreferred: true },
] as const;

export function eventExamples(
  document: RestOperationsAndOpenApiDocument["document"],
): Record<string, unknown> {
  const { schemas } = document["components"] as { readonly schemas: Readonly<Record<string, Schema>> };
  return Object.fromEntries(
    eventSubjectTypes.map((subject) => {
      const made = levels.map((level) =>
        new Example(schemas, level).of(
          { $ref: `#/components/schemas/${getEventObjectSchemaName(subject)}` },
          subject,
        ),
      );
      return [
        subject,
        made.find((example) => Buffer.byteLength(JSON.stringify(example)) <= bytesMax) ?? made.at(-1),
      ];
    }),
  );
}

class Example {
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly #level: (typeof levels)[number];

  constructor(schemas: Readonly<Record<string, Schema>>, level: (typeof levels)[number]) {
    this.#schemas = schemas;
    this.#level = level;
  }

  of(schema: Schema, name: string, listDepth = 0): unknown {
    if (schema.$ref !== undefined) return this.of(this.#target(schema), name, listDepth);
    if (this.#level.isNullPreferred && isNullable(schema)) return null;
    if (schema.anyOf !== undefined) return this.of(schema.anyOf[0] ?? {}, name, listDepth);
    const known = schema.const ?? schema.enum?.[0] ?? schema.examples?.[0];
    return known ?? this.#byType(schema, { type: typesOf(schema)[0], name, listDepth });
  }

  /** The field's description is more specific about an id than its type. */
  #target({ $ref = "", description }: Schema): Schema {
    const target = this.#schemas[$ref.split("/").at(-1) ?? ""] ?? {};
    return description === undefined ? target : { ...target, description };
  }

  #byType(
    schema: Schema,
    { type, name, listDepth }: { type: string | undefined; name: string; listDepth: number },
  ): unknown {
    if (type === "array")
      return listDepth < this.#level.listDepth ? [this.of(schema.items ?? {}, name, listDepth + 1)] : [];
    if (type === "object") return this.#object(schema, listDepth);
    if (type === "integer" || type === "number") return numberOf(name, schema.minimum ?? 1);
    return type === "boolean" ? name === "active" : textOf(schema, name);
  }

  #object({ properties, additionalProperties }: Schema, listDepth: number): unknown {
    if (properties === undefined) return typeof additionalProperties === "object" ? { en: "Text" } : {};
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, this.of(schema, name, listDepth)]),
    );
  }
}

const typesOf = ({ type }: Schema): readonly string[] => (typeof type === "string" ? [type] : (type ?? []));

const isNullable = (schema: Schema): boolean =>
  typesOf(schema).includes("null") || (schema.anyOf ?? []).some(({ type }) => type === "null");

function numberOf(name: string, minimum: number): number {
  return numbers[name] ?? Math.max(minimum, counts.has(name) ? 0 : 1);
}

const numbers: Readonly<Record<string, number>> = {
  amountMinor: 4990,
  exponent: 2,
  basisPoints: 2000,
  httpStatus: 500,
};
/** Counters that are zero in a new object. */
const counts = new Set([
  "canceled",
  "allocated",
  "shipped",
  "delivered",
  "returnRequested",
  "returned",
  "refunded",
  "used",
  "consecutiveFailures",
]);

const texts: Readonly<Record<string, string>> = {
  title: "Trail running shoe",
  productSlug: "trail-running-shoe",
  variantTitle: "42",
  sku: "TRS-42",
  name: "Lindenhof",
  number: "1001",
  emailHint: "a***@example.com",
  city: "Berlin",
  postalCodePrefix: "10",
  recipientInitials: "A. L.",
  regionCode: "DE-BE",
  carrier: "DHL",
  trackingNumber: "JD014600003RS",
  alt: "A trail running shoe",
  reference: "buyer-42",
  code: "SPRING10",
  hint: "…a1b2",
  eventTypes: "order.*",
  apiVersion: "v1",
  methodType: "card",
  description: "What it is for",
  failureCode: "card_declined",
};

function textOf({ format, description }: Schema, name: string): string {
  if (format === "date-time") return "2026-01-31T09:15:00.000Z";
  if (format === "uri") return "https://shop.example.com/";
  const prefix = /`([a-z]{3,4})_…`/.exec(description ?? "")?.[1] ?? prefixes[name.replace(/s$/, "")];
  return prefix === undefined ? (texts[name] ?? name) : `${prefix}_01kg9qzkm0exampe0000000000`;
}

/** Id prefixes of fields whose description does not name the type. */
const prefixes: Readonly<Record<string, string>> = {
  cartId: "cart",
  orderId: "ord",
  productId: "prd",
  variantId: "var",
  lineId: "oln",
  promotionId: "prm",
  checkoutSessionId: "chs",
  sessionId: "chs",
  installationId: "ins",
  appId: "app",
  merchantId: "mer",
  entitledProductId: "prd",
  entitledCategoryId: "cat",
  buyProductId: "prd",
  buyCategoryId: "cat",
  marketId: "mkt",
};
