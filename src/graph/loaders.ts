/**
 * The loaders of a request. A loader combines all loads of the same event loop turn in one statement and
 * caches the rows for the request. Carts, orders and public products are read together with other requests of
 * the process (`database/shared-reads.ts`).
 */
import DataLoader from "dataloader";
import { findPersonalData, type SealedPersonalDataRow } from "#commerce/addresses/personal-data.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { findSessions, type SessionAggregate } from "#commerce/checkout/session-aggregate.ts";
import type { AfterSalesFacts } from "#commerce/after-sales/after-sales-option.ts";
import { loadAfterSalesFactsByOrder } from "#commerce/after-sales/load-after-sales-facts.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { findOrders, findPaymentFailures } from "#commerce/orders/find-orders.ts";
import {
  findProductAggregates,
  findProductIdsOfVariants,
  findPublicProducts,
  type ProductAggregate,
  type PublicProductAddress,
  type PublicProductRow,
} from "#commerce/catalog/read-products.ts";
import {
  type CategoryRow,
  findCategories,
  listPublishedProducts,
  type ProductList,
} from "#commerce/catalog/catalog-lists.ts";
import {
  type DeliveryMethodRow,
  findDeliveryMethods,
  findMarkets,
  findPolicies,
  findTaxRates,
  type MarketRow,
  type PolicyRow,
  type TaxRateRow,
} from "#commerce/markets/read-markets.ts";
import {
  countPromotionCodes,
  type PromotionCodePage,
  type PromotionCodeRow,
  loadPromotionCodePages,
  promotionCodePageKey,
} from "#commerce/promotions/read-promotions.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { findGrants, type GrantRow } from "#access/oauth/grants.ts";
import { type ApiKeyRow, findApiKeys } from "#access/keys/read-credentials.ts";
import { type AppRow, findApps, findInstallations, type InstallationRow } from "#access/installations.ts";
import { findMerchants, type MerchantRow } from "#access/merchants.ts";
import { findReadinessFacts, type InstallationFacts } from "#access/readiness/readiness-facts.ts";
import {
  type DeliveryAttemptView,
  type DeliveryView,
  type InstallationEvent,
  type EventLog,
  type EventView,
  findDeliveryAttempts,
  findDeliveries,
  findInstallationEvents,
  findEventLogs,
  installationEventKey,
} from "#webhooks/delivery-log.ts";
import {
  findEndpoints,
  findInstallationEndpoints,
  type WebhookEndpoint,
} from "#webhooks/endpoints/endpoint-aggregate.ts";
import { findFixtureSources, type SealedFixtureSource } from "#webhooks/endpoints/endpoint-secrets.ts";
import {
  createSharedReads,
  type RowLoader,
  SharedRowLoader,
  type SharedReads,
} from "#database/shared-reads.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";

/**
 * The loaders of one request. A load by id returns null if the row does not exist; loaders whose rows are not
 * nullable fail instead.
 */
export interface Loaders {
  readonly carts: RowLoader<string, CartAggregate | null>;
  readonly sessions: DataLoader<string, SessionAggregate | null>;
  /** The failure code of a session's last payment, by session id; null if no payment failed. */
  readonly paymentFailures: DataLoader<string, string | null>;
  readonly orders: RowLoader<string, OrderAggregate | null>;
  /** Encrypted addresses and e-mails, by id. */
  readonly personalData: DataLoader<string, SealedPersonalDataRow | null>;
  /** The facts, besides the order, that decide which after-sales options an order has. */
  readonly afterSalesFacts: DataLoader<AfterSalesFactsKey, AfterSalesFacts, string>;
  readonly products: DataLoader<string, ProductAggregate | null>;
  /** The id of a variant's product, by variant id. */
  readonly productIdsOfVariants: DataLoader<string, string | null>;
  readonly publicProducts: RowLoader<PublicProductAddress, PublicProductRow | null>;
  /** The published products of a merchant, by merchant id. */
  readonly productLists: DataLoader<string, ProductList>;
  readonly categories: DataLoader<string, CategoryRow>;
  readonly merchants: DataLoader<string, MerchantRow>;
  readonly apps: DataLoader<string, AppRow>;
  readonly installations: DataLoader<string, InstallationRow>;
  readonly apiKeys: DataLoader<string, ApiKeyRow>;
  /** The facts that decide whether an installation is ready, by installation id. */
  readonly readinessFacts: DataLoader<string, InstallationFacts>;
  readonly oauthGrants: DataLoader<string, GrantRow>;
  /** The markets of a merchant, by merchant id. */
  readonly markets: DataLoader<string, MarketRow[]>;
  /** The tax rates and the delivery methods of a market, by market id. */
  readonly taxRates: DataLoader<string, TaxRateRow[]>;
  readonly deliveryMethods: DataLoader<string, DeliveryMethodRow[]>;
  /** The policies of a merchant, by merchant id. */
  readonly policies: DataLoader<string, PolicyRow[]>;
  /** One page of a promotion's codes. */
  readonly promotionCodes: DataLoader<PromotionCodePage, PromotionCodeRow[], string>;
  /** The number of codes of a promotion, by promotion id. */
  readonly promotionCodeCounts: DataLoader<string, number>;
  readonly webhookEndpoints: DataLoader<string, WebhookEndpoint | null>;
  /** The webhook endpoints of an installation, oldest first, by installation id. */
  readonly endpointsOfInstallations: DataLoader<string, WebhookEndpoint[]>;
  /** The signature fixture of an endpoint, by endpoint id. */
  readonly signatureFixtures: DataLoader<string, SealedFixtureSource | null>;
  /** The event log of an installation, by installation id. */
  readonly webhookLogs: DataLoader<string, EventLog>;
  readonly webhookEvents: DataLoader<InstallationEvent, EventView, string>;
  readonly webhookDeliveries: DataLoader<string, DeliveryView | null>;
  /** The attempts of a delivery, by delivery id. */
  readonly webhookAttempts: DataLoader<string, DeliveryAttemptView[]>;
}

/** The order and the time for which after-sales facts are loaded. */
export interface AfterSalesFactsKey {
  readonly order: OrderAggregate;
  readonly now: Date;
}

interface LoaderSource {
  /** The database; inside a transaction, the transaction. */
  readonly db: Database;
  readonly clock: Clock;
  /** The loads that requests share; undefined inside a transaction. */
  readonly reads: SharedAggregateReads | undefined;
}

/** Creates each loader. A loader is created at its first use, because a request needs only a few of them. */
const loaderFactories: { readonly [Name in keyof Loaders]: (source: LoaderSource) => Loaders[Name] } = {
  carts: ({ db, clock, reads }) =>
    reads === undefined
      ? loadNullableById((ids) => findCarts(db, ids, clock.now()))
      : new SharedRowLoader(reads.carts),
  sessions: ({ db }) => loadNullableById((ids) => findSessions(db, ids)),
  paymentFailures: ({ db }) => loadNullableById((ids) => findPaymentFailures(db, ids)),
  orders: ({ db, reads }) =>
    reads === undefined ? loadNullableById((ids) => findOrders(db, ids)) : new SharedRowLoader(reads.orders),
  personalData: ({ db }) => loadNullableById((ids) => findPersonalData(db, ids)),
  afterSalesFacts: ({ db }) =>
    new DataLoader((questions) => loadAfterSalesFacts(db, questions), {
      cacheKeyFn: ({ order, now }) => `${order.id} ${order.version} ${now.getTime()}`,
    }),
  products: ({ db, clock }) => loadNullableById((ids) => findProductAggregates(db, ids, clock.now())),
  productIdsOfVariants: ({ db }) => loadNullableById((ids) => findProductIdsOfVariants(db, ids)),
  publicProducts: ({ db, clock, reads }) =>
    reads === undefined ? createPublicProductLoader(db, clock) : new SharedRowLoader(reads.publicProducts),
  productLists: ({ db }) => loadById((merchantIds) => listPublishedProducts(db, merchantIds)),
  categories: ({ db }) => loadById(async (ids) => mapById(await findCategories(db, ids))),
  merchants: ({ db }) => loadById(async (ids) => mapById(await findMerchants(db, ids))),
  apps: ({ db }) => loadById(async (ids) => mapById(await findApps(db, ids))),
  installations: ({ db }) => loadById(async (ids) => mapById(await findInstallations(db, ids))),
  apiKeys: ({ db }) => loadById(async (ids) => mapById(await findApiKeys(db, ids))),
  readinessFacts: ({ db, clock }) => loadById((ids) => findReadinessFacts(db, ids, clock)),
  oauthGrants: ({ db }) => loadById(async (ids) => mapById(await findGrants(db, ids))),
  markets: ({ db }) => loadLists("merchantId", (ids) => findMarkets(db, ids)),
  taxRates: ({ db }) => loadLists("marketId", (ids) => findTaxRates(db, ids)),
  deliveryMethods: ({ db }) => loadLists("marketId", (ids) => findDeliveryMethods(db, ids)),
  policies: ({ db }) => loadLists("merchantId", (ids) => findPolicies(db, ids)),
  promotionCodes: ({ db }) =>
    new DataLoader((pages) => loadPromotionCodePages(db, pages), {
      cacheKeyFn: (page) => `${page.promotionId} ${promotionCodePageKey(page)}`,
    }),
  promotionCodeCounts: ({ db }) =>
    new DataLoader(async (ids) => {
      const counts = await countPromotionCodes(db, ids);
      return ids.map((id) => counts.get(id) ?? 0);
    }),
  webhookEndpoints: ({ db, clock }) => loadNullableById((ids) => findEndpoints(db, ids, clock.now())),
  endpointsOfInstallations: ({ db, clock }) =>
    loadLists("installationId", (ids) => findInstallationEndpoints(db, ids, clock.now())),
  signatureFixtures: ({ db, clock }) => loadNullableById((ids) => findFixtureSources(db, ids, clock.now())),
  webhookLogs: ({ db, clock }) => loadById((ids) => findEventLogs(db, ids, clock.now())),
  webhookEvents: ({ db, clock }) =>
    new DataLoader(
      async (asked) => {
        const found = await findInstallationEvents(db, asked, clock.now());
        return asked.map(
          (pair) => found.get(installationEventKey(pair)) ?? new Error(`There is no event ${pair.eventId}.`),
        );
      },
      { cacheKeyFn: installationEventKey },
    ),
  webhookDeliveries: ({ db, clock }) => loadNullableById((ids) => findDeliveries(db, ids, clock.now())),
  webhookAttempts: ({ db }) => loadLists("deliveryId", (ids) => findDeliveryAttempts(db, ids)),
};

class LazyLoaders {
  readonly source: LoaderSource;
  readonly made: Partial<Record<string, unknown>> = {};
  constructor(source: LoaderSource) {
    this.source = source;
  }
}

for (const [name, make] of Object.entries<(source: LoaderSource) => unknown>(loaderFactories)) {
  Object.defineProperty(LazyLoaders.prototype, name, {
    get(this: LazyLoaders) {
      return (this.made[name] ??= make(this.source));
    },
  });
}

/** Creates the loaders of one request. */
export const createLoaders = (source: LoaderSource): Loaders => new LazyLoaders(source) as unknown as Loaders;

function createPublicProductLoader(db: Database, clock: Clock): Loaders["publicProducts"] {
  return new DataLoader(
    async (addresses) => {
      const found = await readPublicProducts(db, addresses, clock.now());
      return addresses.map((address) => found.get(publicProductKey(address)) ?? null);
    },
    { cacheKeyFn: publicProductKey },
  );
}

/** Loads the after-sales facts of several orders. All keys of a request have the same time. */
async function loadAfterSalesFacts(
  db: Database,
  questions: readonly AfterSalesFactsKey[],
): Promise<AfterSalesFacts[]> {
  const now = questions[0]?.now ?? new Date(0);
  const orders = questions.map(({ order }) => order);
  const found = await loadAfterSalesFactsByOrder(db, orders, now);
  return orders.map(
    ({ id }) => found.get(id) ?? { now, siblingsInStock: new Map(), returnsOfBuyer: 0, changeTimes: [] },
  );
}

const mapById = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

/** Creates a loader of rows that must exist. A missing row fails only the load of its own id. */
function loadById<Row extends object>(
  find: (ids: readonly string[]) => Promise<Map<string, Row>>,
): DataLoader<string, Row> {
  return new DataLoader(async (ids) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id) ?? new Error(`There is no row ${id}.`));
  });
}

/** Creates a loader that returns null for a missing row. */
function loadNullableById<Row>(
  find: (ids: readonly string[]) => Promise<Map<string, Row>>,
): DataLoader<string, Row | null> {
  return new DataLoader(async (ids) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id) ?? null);
  });
}

/** Creates a loader of lists of rows, by the id that the rows have in the given field. */
function loadLists<Field extends string, Row extends Readonly<Record<Field, string>>>(
  field: Field,
  find: (ids: readonly string[]) => Promise<Row[]>,
): DataLoader<string, Row[]> {
  return new DataLoader(async (ids) => {
    const groups = Map.groupBy(await find(ids), (row): string => row[field]);
    return ids.map((id) => groups.get(id) ?? []);
  });
}

/** The aggregates that many requests of a process read together (`database/shared-reads.ts`). */
export interface SharedAggregateReads {
  readonly carts: SharedReads<string, CartAggregate>;
  readonly orders: SharedReads<string, OrderAggregate>;
  readonly publicProducts: SharedReads<PublicProductAddress, PublicProductRow>;
}

const publicProductKey = ({ merchantSlug, productSlug }: PublicProductAddress): string =>
  `${merchantSlug}/${productSlug}`;

export function createSharedAggregateReads(db: Database, clock: Clock): SharedAggregateReads {
  return {
    carts: createSharedReads({ nameOf: (id) => id, find: (ids) => findCarts(db, ids, clock.now()) }),
    orders: createSharedReads({ nameOf: (id) => id, find: (ids) => findOrders(db, ids) }),
    publicProducts: createSharedReads({
      nameOf: publicProductKey,
      find: (addresses) => readPublicProducts(db, addresses, clock.now()),
    }),
  };
}

/** Returns the published products by the slugs of merchant and product. */
async function readPublicProducts(
  db: Database,
  addresses: readonly PublicProductAddress[],
  now: Date,
): Promise<ReadonlyMap<string, PublicProductRow>> {
  const rows = await findPublicProducts(db, addresses, now);
  return new Map(rows.map((row) => [`${row.merchantSlug}/${row.productSlug}`, row]));
}
