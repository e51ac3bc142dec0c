/**
 * The loaders of a request: loads of the same tick go as one statement, and what was loaded is kept for the
 * request. Carts, orders and public products are read together with other requests of the process
 * (`database/shared-reads.ts`).
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
  type CategoryRow,
  findCategories,
  findProductAggregates,
  findProductIdsOfVariants,
  findPublicProducts,
  listPublishedProducts,
  type ProductAggregate,
  type ProductList,
  type PublicProductAddress,
  type PublicProductRow,
} from "#commerce/catalog/read-products.ts";
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
  type AttemptView,
  type DeliveryView,
  type EventAsked,
  type EventLog,
  type EventView,
  findAttempts,
  findDeliveries,
  findEvents,
  findLogs,
  pairOf,
} from "#webhooks/delivery-log.ts";
import {
  findEndpoints,
  findEndpointsOf,
  type WebhookEndpoint,
} from "#webhooks/endpoints/endpoint-aggregate.ts";
import { findFixtures, type SealedFixture } from "#webhooks/endpoints/endpoint-secrets.ts";
import { createSharedReads, type Loads, SharedLoads, type SharedReads } from "#database/shared-reads.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";

export interface Loaders {
  /** Null: there is none. */
  readonly carts: Loads<string, CartAggregate | null>;
  /** Null: there is none. */
  readonly sessions: DataLoader<string, SessionAggregate | null>;
  /** Why the last payment of a session failed; null: none did. */
  readonly paymentFailures: DataLoader<string, string | null>;
  /** Null: there is none. */
  readonly orders: Loads<string, OrderAggregate | null>;
  /** Sealed; null: there is none. */
  readonly personalData: DataLoader<string, SealedPersonalDataRow | null>;
  /** What the after-sales of an order are decided by beside it. */
  readonly afterSalesFacts: DataLoader<AfterSalesFactsKey, AfterSalesFacts, string>;
  /** Null: deleted since its id was read. */
  readonly products: DataLoader<string, ProductAggregate | null>;
  /** By variant; null: there is no such variant. */
  readonly productIdsOfVariants: DataLoader<string, string | null>;
  readonly publicProducts: Loads<PublicProductAddress, PublicProductRow | null>;
  /** The published products of a merchant. */
  readonly productLists: DataLoader<string, ProductList>;
  readonly categories: DataLoader<string, CategoryRow>;
  readonly merchants: DataLoader<string, MerchantRow>;
  readonly apps: DataLoader<string, AppRow>;
  readonly installations: DataLoader<string, InstallationRow>;
  readonly apiKeys: DataLoader<string, ApiKeyRow>;
  /** By installation. */
  readonly readinessFacts: DataLoader<string, InstallationFacts>;
  readonly oauthGrants: DataLoader<string, GrantRow>;
  /** The markets of a merchant. */
  readonly markets: DataLoader<string, MarketRow[]>;
  /** Of a market. */
  readonly taxRates: DataLoader<string, TaxRateRow[]>;
  readonly deliveryMethods: DataLoader<string, DeliveryMethodRow[]>;
  /** Of a merchant. */
  readonly policies: DataLoader<string, PolicyRow[]>;
  /** A page of the codes of a promotion, and how many it has. */
  readonly promotionCodes: DataLoader<PromotionCodePage, PromotionCodeRow[], string>;
  readonly promotionCodeCounts: DataLoader<string, number>;
  /** Null: there is none. */
  readonly webhookEndpoints: DataLoader<string, WebhookEndpoint | null>;
  /** Of an installation, the oldest first. */
  readonly endpointsOfInstallations: DataLoader<string, WebhookEndpoint[]>;
  /** Of an endpoint; null: there is none. */
  readonly signatureFixtures: DataLoader<string, SealedFixture | null>;
  /** Of an installation. */
  readonly webhookLogs: DataLoader<string, EventLog>;
  readonly webhookEvents: DataLoader<EventAsked, EventView, string>;
  /** Null: there is none. */
  readonly webhookDeliveries: DataLoader<string, DeliveryView | null>;
  /** Of a delivery. */
  readonly webhookAttempts: DataLoader<string, AttemptView[]>;
}

export interface AfterSalesFactsKey {
  readonly order: OrderAggregate;
  readonly now: Date;
}

interface LoaderSource {
  /** Inside of a transaction its handle. */
  readonly db: Database;
  readonly clock: Clock;
  /** Outside of a transaction: what is read together with other requests. */
  readonly reads: SharedAggregateReads | undefined;
}

/** Each is made when it is asked for: a request needs few of them. */
const makers: { readonly [Name in keyof Loaders]: (source: LoaderSource) => Loaders[Name] } = {
  carts: ({ db, clock, reads }) =>
    reads === undefined
      ? byIdIfThere((ids) => findCarts(db, ids, clock.now()))
      : new SharedLoads(reads.carts),
  sessions: ({ db }) => byIdIfThere((ids) => findSessions(db, ids)),
  paymentFailures: ({ db }) => byIdIfThere((ids) => findPaymentFailures(db, ids)),
  orders: ({ db, reads }) =>
    reads === undefined ? byIdIfThere((ids) => findOrders(db, ids)) : new SharedLoads(reads.orders),
  personalData: ({ db }) => byIdIfThere((ids) => findPersonalData(db, ids)),
  afterSalesFacts: ({ db }) =>
    new DataLoader((questions) => answerAfterSales(db, questions), {
      cacheKeyFn: ({ order, now }) => `${order.id} ${order.version} ${now.getTime()}`,
    }),
  products: ({ db, clock }) => byIdIfThere((ids) => findProductAggregates(db, ids, clock.now())),
  productIdsOfVariants: ({ db }) => byIdIfThere((ids) => findProductIdsOfVariants(db, ids)),
  publicProducts: ({ db, clock, reads }) =>
    reads === undefined ? publicProducts(db, clock) : new SharedLoads(reads.publicProducts),
  productLists: ({ db }) => byId((merchantIds) => listPublishedProducts(db, merchantIds)),
  categories: ({ db }) => byId(async (ids) => keyed(await findCategories(db, ids))),
  merchants: ({ db }) => byId(async (ids) => keyed(await findMerchants(db, ids))),
  apps: ({ db }) => byId(async (ids) => keyed(await findApps(db, ids))),
  installations: ({ db }) => byId(async (ids) => keyed(await findInstallations(db, ids))),
  apiKeys: ({ db }) => byId(async (ids) => keyed(await findApiKeys(db, ids))),
  readinessFacts: ({ db, clock }) => byId((ids) => findReadinessFacts(db, ids, clock)),
  oauthGrants: ({ db }) => byId(async (ids) => keyed(await findGrants(db, ids))),
  markets: ({ db }) =>
    groupsBy(
      ({ merchantId }) => merchantId,
      (ids) => findMarkets(db, ids),
    ),
  taxRates: ({ db }) =>
    groupsBy(
      ({ marketId }) => marketId,
      (ids) => findTaxRates(db, ids),
    ),
  deliveryMethods: ({ db }) =>
    groupsBy(
      ({ marketId }) => marketId,
      (ids) => findDeliveryMethods(db, ids),
    ),
  policies: ({ db }) =>
    groupsBy(
      ({ merchantId }) => merchantId,
      (ids) => findPolicies(db, ids),
    ),
  promotionCodes: ({ db }) =>
    new DataLoader((pages) => loadPromotionCodePages(db, pages), {
      cacheKeyFn: (page) => `${page.promotionId} ${promotionCodePageKey(page)}`,
    }),
  promotionCodeCounts: ({ db }) =>
    new DataLoader(async (ids) => {
      const counts = await countPromotionCodes(db, ids);
      return ids.map((id) => counts.get(id) ?? 0);
    }),
  webhookEndpoints: ({ db, clock }) => byIdIfThere((ids) => findEndpoints(db, ids, clock.now())),
  endpointsOfInstallations: ({ db, clock }) =>
    groupsBy(
      ({ installationId }) => installationId,
      (ids) => findEndpointsOf(db, ids, clock.now()),
    ),
  signatureFixtures: ({ db, clock }) => byIdIfThere((ids) => findFixtures(db, ids, clock.now())),
  webhookLogs: ({ db, clock }) => byId((ids) => findLogs(db, ids, clock.now())),
  webhookEvents: ({ db, clock }) =>
    new DataLoader(
      async (asked) => {
        const found = await findEvents(db, asked, clock.now());
        return asked.map(
          (pair) => found.get(pairOf(pair)) ?? new Error(`There is no event ${pair.eventId}.`),
        );
      },
      { cacheKeyFn: pairOf },
    ),
  webhookDeliveries: ({ db, clock }) => byIdIfThere((ids) => findDeliveries(db, ids, clock.now())),
  webhookAttempts: ({ db }) =>
    groupsBy(
      ({ deliveryId }) => deliveryId,
      (ids) => findAttempts(db, ids),
    ),
};

class LazyLoaders {
  readonly source: LoaderSource;
  readonly made: Partial<Record<string, unknown>> = {};
  constructor(source: LoaderSource) {
    this.source = source;
  }
}

for (const [name, make] of Object.entries<(source: LoaderSource) => unknown>(makers)) {
  Object.defineProperty(LazyLoaders.prototype, name, {
    get(this: LazyLoaders) {
      return (this.made[name] ??= make(this.source));
    },
  });
}

export const createLoaders = (source: LoaderSource): Loaders => new LazyLoaders(source) as unknown as Loaders;

function publicProducts(db: Database, clock: Clock): Loads<PublicProductAddress, PublicProductRow | null> {
  return new DataLoader(
    async (addresses) => {
      const found = await readPublicProducts(db, addresses, clock.now());
      return addresses.map((address) => found.get(nameOfAddress(address)) ?? null);
    },
    { cacheKeyFn: nameOfAddress },
  );
}

/** Asked in one request, they are asked for one time. */
async function answerAfterSales(
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

const keyed = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

/** An id that is not there fails its own load alone: what points at it is broken, or was deleted meanwhile. */
function byId<Row extends object>(
  find: (ids: readonly string[]) => Promise<Map<string, Row>>,
): DataLoader<string, Row> {
  return new DataLoader(async (ids) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id) ?? new Error(`There is no row ${id}.`));
  });
}

function byIdIfThere<Row>(
  find: (ids: readonly string[]) => Promise<Map<string, Row>>,
): DataLoader<string, Row | null> {
  return new DataLoader(async (ids) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id) ?? null);
  });
}

function groupsBy<Row>(
  owner: (row: Row) => string,
  find: (owners: readonly string[]) => Promise<Row[]>,
): DataLoader<string, Row[]> {
  return new DataLoader(async (owners) => {
    const groups = Map.groupBy(await find(owners), owner);
    return owners.map((id) => groups.get(id) ?? []);
  });
}

/**
 * What a process reads for many requests at once (shared-reads.ts): the aggregates that most requests ask for
 * one of.
 */
export interface SharedAggregateReads {
  readonly carts: SharedReads<string, CartAggregate>;
  readonly orders: SharedReads<string, OrderAggregate>;
  readonly publicProducts: SharedReads<PublicProductAddress, PublicProductRow>;
}

const itself = (id: string): string => id;

const nameOfAddress = ({ merchantSlug, productSlug }: PublicProductAddress): string =>
  `${merchantSlug}/${productSlug}`;

export function createSharedAggregateReads(db: Database, clock: Clock): SharedAggregateReads {
  return {
    carts: createSharedReads({ nameOf: itself, find: (ids) => findCarts(db, ids, clock.now()) }),
    orders: createSharedReads({ nameOf: itself, find: (ids) => findOrders(db, ids) }),
    publicProducts: createSharedReads({
      nameOf: nameOfAddress,
      find: (addresses) => readPublicProducts(db, addresses, clock.now()),
    }),
  };
}

/** By address. */
async function readPublicProducts(
  db: Database,
  addresses: readonly PublicProductAddress[],
  now: Date,
): Promise<ReadonlyMap<string, PublicProductRow>> {
  const rows = await findPublicProducts(db, addresses, now);
  return new Map(rows.map((row) => [`${row.merchantSlug}/${row.productSlug}`, row]));
}
