/**
 * The GraphQL queries of all lists: each list without filters, with each of its filters, and in each order.
 * `list-plans.test.ts` checks that every filter of the schema occurs.
 */
export interface MeasuredQuery {
  readonly name: string;
  readonly query: string;
}

/** Values of existing objects, which the filters of lists need. */
export interface FilterSubjects {
  readonly orderId: string;
  readonly orderNumber: string;
  readonly marketId: string;
  readonly categoryId: string;
  readonly brand: string;
  readonly variantId: string;
  readonly promotionId: string;
  readonly endpointId: string;
  readonly installationId: string;
  readonly apiKeyId: string;
}

const dayMs = 86_400_000;
export const dayAgo = (days: number): string =>
  new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
const timeAgo = (days: number): string => `"${dayAgo(days)}T00:00:00Z"`;

interface ListFields {
  /** The fields of an entry that are read; without it, `id`. */
  readonly fields?: string;
  /** The filters by the name that the table of results shows. Some filters match few entries or none. */
  readonly filters?: Readonly<Record<string, string>>;
  /** The order of the list, as an argument that every query of the list gets. */
  readonly sort?: string;
}

const oneDay = (name: string, days: number): string =>
  `${name}From: ${timeAgo(days)}, ${name}To: ${timeAgo(days - 1)}`;

/** A day in the middle of the period, the time after it and the time before it. */
const periodFilters = (name: string, days: number): Readonly<Record<string, string>> => ({
  [`one day ${days} days ago`]: oneDay(name, days),
  [`in the last ${days} days`]: `${name}From: ${timeAgo(days)}`,
  [`until ${days} days ago`]: `${name}To: ${timeAgo(days)}`,
});

const orderFilters = (subjects: FilterSubjects): Readonly<Record<string, string>> => ({
  "": "",
  confirmed: "status: CONFIRMED",
  disputed: "paymentStatus: DISPUTED",
  "partially shipped": "fulfillmentStatus: PARTIALLY_SHIPPED",
  "return requested": "returnStatus: REQUESTED",
  "country without orders": 'country: "IS"',
  market: `market: "${subjects.marketId}"`,
  "currency without orders": 'currency: "CLP"',
  buyer: 'buyerReference: "buyer-1-4711"',
  number: `number: "${subjects.orderNumber}"`,
  "three conditions": 'paymentStatus: PAID, fulfillmentStatus: UNFULFILLED, country: "AT"',
  ...periodFilters("placed", 180),
  "in the last 7 days": `placedFrom: ${timeAgo(7)}`,
});

const partFilters = (status: string): ListFields => ({
  filters: {
    "": "",
    [status.toLowerCase().replace("_", " ")]: `status: ${status}`,
    ...periodFilters("created", 180),
  },
});

const createCatalogLists = ({
  marketId,
  categoryId,
  brand,
  variantId,
}: FilterSubjects): readonly (readonly [field: string, list: ListFields])[] => [
  [
    "products",
    {
      filters: {
        "": "",
        "newest first": "newestFirst: true",
        draft: "status: DRAFT",
        category: `categoryId: "${categoryId}"`,
        brand: `brand: ${JSON.stringify(brand)}`,
        "in stock": "stock: IN_STOCK",
        "low stock": "stock: LOW_STOCK",
        "out of stock": "stock: OUT_OF_STOCK",
        ...periodFilters("updated", 350),
        "changed in the last day": `updatedFrom: ${timeAgo(1)}`,
      },
    },
  ],
  ["categories", {}],
  [
    "stockMovements",
    {
      filters: {
        "": "",
        variant: `variantId: "${variantId}"`,
        lost: "reason: LOST",
        ...periodFilters("created", 180),
      },
    },
  ],
  [
    "priceHistory",
    {
      fields: "variantId validFrom",
      filters: {
        "": "",
        variant: `variantId: "${variantId}"`,
        market: `marketId: "${marketId}"`,
        "variant and market": `variantId: "${variantId}", marketId: "${marketId}"`,
        ...periodFilters("started", 14),
      },
    },
  ],
];

const createOrderLists = (
  subjects: FilterSubjects,
): readonly (readonly [field: string, list: ListFields])[] => [
  ["orders", { fields: "number", filters: orderFilters(subjects) }],
  ["orders", { fields: "number", sort: "sort: NEWEST_FIRST", filters: orderFilters(subjects) }],
  [
    "orders",
    {
      fields: "number",
      sort: 'sort: HIGHEST_TOTAL_FIRST, currency: "EUR"',
      filters: { "": "", "total at most 1": "totalMinorMax: 1", disputed: "paymentStatus: DISPUTED" },
    },
  ],
  [
    "orders",
    {
      fields: "number",
      sort: 'sort: LOWEST_TOTAL_FIRST, currency: "EUR"',
      filters: { "": "", "total at least 50000": "totalMinorMin: 50000", ...periodFilters("placed", 180) },
    },
  ],
  ["payments", partFilters("FAILED")],
  ["refunds", partFilters("PENDING")],
  ["returns", partFilters("REQUESTED")],
  ["fulfillments", partFilters("IN_TRANSIT")],
  ["warranties", partFilters("VOID")],
  [
    "carts",
    {
      filters: Object.fromEntries(
        ["", "ACTIVE", "LOCKED", "COMPLETED", "REVOKED", "EXPIRED", "MERGED"].map(statusFilter),
      ),
    },
  ],
  [
    "hostedCheckoutSessions",
    {
      filters: Object.fromEntries(
        ["", "OPEN", "PROCESSING", "COMPLETED", "CANCELED", "EXPIRED"].map(statusFilter),
      ),
    },
  ],
];

const statusFilter = (status: string): [string, string] => [
  status.toLowerCase(),
  status === "" ? "" : `status: ${status}`,
];

const createPromotionLists = ({
  orderId,
  promotionId,
}: FilterSubjects): readonly (readonly [field: string, list: ListFields])[] => [
  ["promotions", { filters: { "": "", paused: "status: PAUSED", automatic: "trigger: AUTOMATIC" } }],
  [
    "promotionRedemptions",
    {
      filters: {
        "": "",
        promotion: `promotionId: "${promotionId}"`,
        order: `orderId: "${orderId}"`,
        ...periodFilters("redeemed", 180),
      },
    },
  ],
];

const createEventLists = ({
  orderId,
  endpointId,
}: FilterSubjects): readonly (readonly [field: string, list: ListFields])[] => [
  [
    "events",
    {
      filters: {
        "": "",
        "order canceled": 'type: "order.canceled"',
        "type without events": 'type: "cart.revoked"',
        order: `subjectId: "${orderId}"`,
        ...periodFilters("created", 14),
        "type and one day": `type: "order.canceled", ${oneDay("created", 14)}`,
      },
    },
  ],
  [
    "webhookDeliveries",
    {
      filters: {
        "": "",
        exhausted: "status: EXHAUSTED",
        canceled: "status: CANCELED",
        endpoint: `endpointId: "${endpointId}"`,
        "endpoint and exhausted": `endpointId: "${endpointId}", status: EXHAUSTED`,
        ...periodFilters("created", 14),
      },
    },
  ],
  ["exports", {}],
];

const createAccessLists = ({
  orderId,
  installationId,
  apiKeyId,
}: FilterSubjects): readonly (readonly [field: string, list: ListFields])[] => [
  [
    "apiRequests",
    {
      filters: {
        "": "",
        installation: `installationId: "${installationId}"`,
        credential: `credentialId: "${apiKeyId}"`,
        "rare operation": 'operation: "getPublicCart"',
        failed: "statusFrom: 400",
        "server errors": "statusFrom: 500",
        "status 304": "statusFrom: 300, statusTo: 304",
        "status without requests": "statusTo: 199",
      },
    },
  ],
  [
    "auditEntries",
    {
      filters: {
        "": "",
        "rare actor": "actor: COMMAND",
        "actor without entries": 'actorId: "tok_none"',
        "rare action": 'action: "orderHold"',
        target: `targetId: "${orderId}"`,
        "one day 180 days ago": `from: ${timeAgo(180)}, to: ${timeAgo(179)}`,
      },
    },
  ],
  ["merchants", {}],
  ["apps", {}],
  ["installations", {}],
  ["oauthClients", {}],
  ["apiKeys", { filters: { "": "", installation: `installationId: "${installationId}"` } }],
  ["oauthGrants", { filters: { "": "", installation: `installationId: "${installationId}"` } }],
  ["internalTokens", {}],
  ["staffAccounts", {}],
  ["trustedDocuments", {}],
];

/** Lists inside other objects. */
const createInnerLists = ({ installationId, promotionId }: FilterSubjects): readonly MeasuredQuery[] => [
  {
    name: "codes of a promotion",
    query: `promotion(id: "${promotionId}") { codes(first: 20) { edges { node { id } } } }`,
  },
  ...[false, true].map((onlyFailed) => ({
    name: `recentRequests of an installation${onlyFailed ? ", failed" : ""}`,
    query: `installation(id: "${installationId}") {
      recentRequests(first: 20, onlyFailed: ${onlyFailed}) { edges { node { id } } } }`,
  })),
];

/** Lists whose entries are counted: up to 10 000 entries, whatever the filter. */
const countedLists = ["orders", "stockMovements", "priceHistory", "webhookDeliveries", "events", "carts"];

export const createListQueries = (subjects: FilterSubjects): readonly MeasuredQuery[] => {
  const lists = [
    createOrderLists,
    createCatalogLists,
    createPromotionLists,
    createEventLists,
    createAccessLists,
  ];
  const pages = lists
    .flatMap((create) => create(subjects))
    .flatMap(([field, { fields = "id", filters = { "": "" }, sort }]) =>
      Object.entries(filters).map(([name, filter]) => {
        const args = ["first: 20", sort, filter].filter((part) => part !== undefined && part !== "");
        const order =
          sort === undefined ? undefined : /[A-Z_]{5,}/.exec(sort)?.[0]?.toLowerCase().replaceAll("_", " ");
        return {
          name: [field, order, name].filter((part) => part !== undefined && part !== "").join(", "),
          query: `${field}(${args.join(", ")}) { edges { node { ${fields} } } }`,
        };
      }),
    );
  const counts = [
    ...countedLists.map((field) => ({
      name: `${field}, total count`,
      query: `${field}(first: 1) { totalCount }`,
    })),
    {
      name: "products in stock, total count",
      query: "products(first: 1, stock: IN_STOCK) { totalCount }",
    },
  ];
  return [...pages, ...createInnerLists(subjects), ...counts];
};
