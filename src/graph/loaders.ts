/**
 * The data loaders of a request. A loader reads all rows that are requested in one turn of the event loop
 * with one SQL statement, and caches them for the request. `database/shared-reads.ts` combines the reads of
 * carts, orders and public products across requests.
 */
import DataLoader from "dataloader";
import {
  type LocalizedCategorySlugRow,
  findCategoryAncestors,
  findChildCategories,
  findLocalizedCategorySlugs,
} from "#commerce/catalog/category-tree.ts";
import {
  findEncryptedPersonalData,
  type EncryptedPersonalDataRow,
} from "#commerce/addresses/personal-data.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { findCheckoutSessions, type CheckoutSessionAggregate } from "#commerce/checkout/session-aggregate.ts";
import type { AfterSalesDataOutsideOrder } from "#commerce/after-sales/after-sales-option.ts";
import { loadAfterSalesEligibilityFactsByOrder } from "#commerce/after-sales/load-after-sales-facts.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { findOrders, findCheckoutSessionPaymentFailureCodes } from "#commerce/orders/find-orders.ts";
import {
  findProductAggregates,
  findProductIdsOfVariants,
  type ProductAggregate,
  type MerchantAndProductSlug,
  type PublicProductLookupResult,
} from "#commerce/catalog/read-products.ts";
import {
  type CategoryRow,
  findCategories,
  loadPublishedProductLists,
  type PublishedProductList,
} from "#commerce/catalog/catalog-lists.ts";
import {
  type DeliveryMethodRow,
  findDeliveryMethods,
  findDeliveryMethodNames,
  findMarkets,
  findMerchantPolicies,
  findTaxRates,
  type MarketRow,
  type MerchantPolicyRow,
  type TaxRateRow,
} from "#commerce/markets/read-markets.ts";
import { findTaxClasses, type TaxClassRow } from "#commerce/tax/tax-classes.ts";
import {
  countPromotionCodes,
  type PromotionCodePageRequest,
  type PromotionCodeRow,
  loadPromotionCodePages,
  getPromotionCodePageCacheKey,
} from "#commerce/promotions/read-promotions.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { findOauthGrants, type OauthGrantRow } from "#access/oauth/grants.ts";
import {
  type ApiKeyRow,
  findApiKeys,
  findInternalTokens,
  type InternalTokenRow,
} from "#access/keys/read-credentials.ts";
import { findStaffAccounts, type StaffRow } from "#access/people/staff.ts";
import { type AppRow, findApps, findInstallations, type InstallationRow } from "#access/installations.ts";
import { findMerchants, type MerchantRow } from "#access/merchants.ts";
import {
  loadReadinessCheckInput,
  type InstallationForReadinessCheck,
} from "#access/readiness/readiness-data.ts";
import {
  type DeliveryAttemptView,
  type DeliveryView,
  type InstallationIdAndEventId,
  type InstallationEventLog,
  type EventWithDeliveries,
  findDeliveryAttempts,
  findDeliveries,
  findDeliveriesOfEvents,
  findEventsByInstallationAndEventIds,
  findEventsReadableByInstallations,
  createInstallationAndEventIdKey,
} from "#webhooks/delivery-log.ts";
import { type DeliveryIdAndBody, findStoredDeliveryBodies } from "#webhooks/delivery-pages.ts";
import { type EventIdAndBody, findWebhookEventBodies } from "#webhooks/event-lists.ts";
import {
  findEndpoints,
  findInstallationEndpoints,
  type WebhookEndpoint,
} from "#webhooks/endpoints/endpoint-aggregate.ts";
import {
  findEndpointsWithEncryptedSecrets,
  type EndpointWithEncryptedSecrets,
} from "#webhooks/endpoints/endpoint-secrets.ts";
import { type DataLoaderFunctions, CoalescingRequestDataLoader } from "#database/shared-reads.ts";
import type { LocalizedTextMap } from "#commerce/catalog/read-products.ts";
import { findActivePaymentConnections, type PaymentConnectionRow } from "#commerce/payments/connections.ts";
import { type MerchantBrandingRow, findMerchantBrandings } from "#commerce/merchants/branding.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";
import {
  createNullableRowLoader,
  createRowListLoader,
  createRowLoader,
  indexRowsById,
} from "./row-loaders.ts";
import {
  getPublicProductCacheKey,
  findPublicProductsBySlugs,
  type CartOrderAndProductReadCoalescers,
} from "./shared-aggregate-reads.ts";

/**
 * The data loaders of one request. For a missing row, a loader returns null if its type includes null. All
 * other loaders throw.
 */
export interface GraphqlDataLoaders {
  readonly carts: DataLoaderFunctions<string, CartAggregate | null>;
  readonly sessions: DataLoader<string, CheckoutSessionAggregate | null>;
  /** The failure code of a checkout session's last payment, by session id; null if no payment failed. */
  readonly paymentFailures: DataLoader<string, string | null>;
  readonly orders: DataLoaderFunctions<string, OrderAggregate | null>;
  /** Encrypted addresses and e-mail addresses of buyers, by the id of the database row. */
  readonly personalData: DataLoader<string, EncryptedPersonalDataRow | null>;
  /**
   * The data for deciding which after-sales options an order has (for example a return), in addition to the
   * order itself.
   */
  readonly afterSalesFacts: DataLoader<OrderAndEvaluationTime, AfterSalesDataOutsideOrder, string>;
  readonly products: DataLoader<string, ProductAggregate | null>;
  /** The id of a variant's product, by variant id. */
  readonly productIdsOfVariants: DataLoader<string, string | null>;
  readonly publicProducts: DataLoaderFunctions<MerchantAndProductSlug, PublicProductLookupResult | null>;
  /** The published products of a merchant, by merchant id. */
  readonly productLists: DataLoader<string, PublishedProductList>;
  readonly categories: DataLoader<string, CategoryRow>;
  /** The categories directly below a category, by category id. */
  readonly childCategories: DataLoader<string, CategoryRow[]>;
  /** The categories above a category, the top-level category first, by category id. */
  readonly categoryAncestors: DataLoader<string, CategoryRow[]>;
  /**
   * The slugs of a category in single locales, by category id. The slug of a locale replaces the category's
   * general slug in this locale.
   */
  readonly categorySlugs: DataLoader<string, LocalizedCategorySlugRow[]>;
  readonly merchants: DataLoader<string, MerchantRow>;
  /** The branding of a merchant, by merchant id; null if there is none. */
  readonly brandings: DataLoader<string, MerchantBrandingRow | null>;
  /** The active connection of a merchant to a payment provider, by merchant id; null if there is none. */
  readonly paymentConnections: DataLoader<string, PaymentConnectionRow | null>;
  readonly apps: DataLoader<string, AppRow>;
  readonly installations: DataLoader<string, InstallationRow>;
  readonly apiKeys: DataLoader<string, ApiKeyRow>;
  /** The data for an installation's readiness checks, by installation id. */
  readonly readinessFacts: DataLoader<string, InstallationForReadinessCheck>;
  readonly oauthGrants: DataLoader<string, OauthGrantRow>;
  /** OAuth grants by id; null if the grant was deleted after its retention period. */
  readonly retainedGrants: DataLoader<string, OauthGrantRow | null>;
  readonly internalTokens: DataLoader<string, InternalTokenRow | null>;
  readonly staffAccounts: DataLoader<string, StaffRow | null>;
  /** The markets of a merchant, by merchant id. */
  readonly markets: DataLoader<string, MarketRow[]>;
  /** The tax classes of a merchant, by merchant id. */
  readonly taxClasses: DataLoader<string, TaxClassRow[]>;
  /** The tax rates and the delivery methods of a market, by market id. */
  readonly taxRates: DataLoader<string, TaxRateRow[]>;
  readonly deliveryMethods: DataLoader<string, DeliveryMethodRow[]>;
  /**
   * All names of a delivery method, one for each locale. The key of the loader is the delivery method's id.
   * Null if the delivery method no longer exists.
   */
  readonly deliveryNames: DataLoader<string, LocalizedTextMap | null>;
  /** The policies of a merchant, by merchant id. */
  readonly policies: DataLoader<string, MerchantPolicyRow[]>;
  /** One page of the codes of a promotion; the key has the promotion and the page. */
  readonly promotionCodes: DataLoader<PromotionCodePageRequest, PromotionCodeRow[], string>;
  /** The number of codes of a promotion, by promotion id. */
  readonly promotionCodeCounts: DataLoader<string, number>;
  readonly webhookEndpoints: DataLoader<string, WebhookEndpoint | null>;
  /** The webhook endpoints of an installation, oldest first, by installation id. */
  readonly endpointsOfInstallations: DataLoader<string, WebhookEndpoint[]>;
  /** The data for signed example requests (the signature fixture) of a webhook endpoint, by endpoint id. */
  readonly signatureFixtures: DataLoader<string, EndpointWithEncryptedSecrets | null>;
  /** The event log of an installation, by installation id. */
  readonly webhookLogs: DataLoader<string, InstallationEventLog>;
  readonly webhookEvents: DataLoader<InstallationIdAndEventId, EventWithDeliveries | null, string>;
  readonly webhookDeliveries: DataLoader<string, DeliveryView | null>;
  /** The webhook deliveries of an event, for all installations, by event id. */
  readonly deliveriesOfEvents: DataLoader<string, DeliveryView[]>;
  /** The stored body of a webhook event that contains the whole object, not only its id; by event id. */
  readonly eventBodies: DataLoader<string, EventIdAndBody | null>;
  /** The stored body of a webhook delivery, by delivery id. */
  readonly webhookBodies: DataLoader<string, DeliveryIdAndBody | null>;
  /** The attempts of a webhook delivery, by delivery id. */
  readonly webhookAttempts: DataLoader<string, DeliveryAttemptView[]>;
}

/**
 * The key of the loader of `afterSalesFacts`: an order, and the time for which the order's after-sales
 * options are decided.
 */
export interface OrderAndEvaluationTime {
  readonly order: OrderAggregate;
  readonly now: Date;
}

interface LoaderSource {
  /**
   * The database handle of the loaders: the request's transaction if one is open, otherwise the database
   * without a transaction.
   */
  readonly db: Database;
  readonly clock: Clock;
  /**
   * The object that combines the reads of several requests. Undefined inside a transaction, because a
   * transaction must read its own changes.
   */
  readonly reads: CartOrderAndProductReadCoalescers | undefined;
}

/**
 * The factory function of each loader. A loader is created when a resolver first uses it, because a request
 * needs only a few loaders.
 */
const loaderFactories: {
  readonly [Name in keyof GraphqlDataLoaders]: (source: LoaderSource) => GraphqlDataLoaders[Name];
} = {
  carts: ({ db, clock, reads }) =>
    reads === undefined
      ? createNullableRowLoader((ids) => findCarts(db, ids, clock.now()))
      : new CoalescingRequestDataLoader(reads.carts),
  sessions: ({ db }) => createNullableRowLoader((ids) => findCheckoutSessions(db, ids)),
  paymentFailures: ({ db }) =>
    createNullableRowLoader((ids) => findCheckoutSessionPaymentFailureCodes(db, ids)),
  orders: ({ db, reads }) =>
    reads === undefined
      ? createNullableRowLoader((ids) => findOrders(db, ids))
      : new CoalescingRequestDataLoader(reads.orders),
  personalData: ({ db }) => createNullableRowLoader((ids) => findEncryptedPersonalData(db, ids)),
  afterSalesFacts: ({ db }) =>
    new DataLoader((keys) => loadAfterSalesFacts(db, keys), {
      cacheKeyFn: ({ order, now }) => `${order.id} ${order.version} ${now.getTime()}`,
    }),
  products: ({ db, clock }) => createNullableRowLoader((ids) => findProductAggregates(db, ids, clock.now())),
  productIdsOfVariants: ({ db }) => createNullableRowLoader((ids) => findProductIdsOfVariants(db, ids)),
  publicProducts: ({ db, clock, reads }) =>
    reads === undefined
      ? createPublicProductLoader(db, clock)
      : new CoalescingRequestDataLoader(reads.publicProducts),
  productLists: ({ db }) => createRowLoader((merchantIds) => loadPublishedProductLists(db, merchantIds)),
  categories: ({ db }) => createRowLoader(async (ids) => indexRowsById(await findCategories(db, ids))),
  childCategories: ({ db }) => createRowListLoader("parentId", (ids) => findChildCategories(db, ids)),
  categoryAncestors: ({ db }) => createRowLoader((ids) => findCategoryAncestors(db, ids)),
  categorySlugs: ({ db }) => createRowListLoader("categoryId", (ids) => findLocalizedCategorySlugs(db, ids)),
  merchants: ({ db }) => createRowLoader(async (ids) => indexRowsById(await findMerchants(db, ids))),
  brandings: ({ db }) => createNullableRowLoader((merchantIds) => findMerchantBrandings(db, merchantIds)),
  paymentConnections: ({ db }) =>
    createNullableRowLoader((merchantIds) => findActivePaymentConnections(db, merchantIds)),
  apps: ({ db }) => createRowLoader(async (ids) => indexRowsById(await findApps(db, ids))),
  installations: ({ db }) => createRowLoader(async (ids) => indexRowsById(await findInstallations(db, ids))),
  apiKeys: ({ db }) => createRowLoader(async (ids) => indexRowsById(await findApiKeys(db, ids))),
  readinessFacts: ({ db, clock }) => createRowLoader((ids) => loadReadinessCheckInput(db, ids, clock)),
  oauthGrants: ({ db }) => createRowLoader(async (ids) => indexRowsById(await findOauthGrants(db, ids))),
  retainedGrants: ({ db }) =>
    createNullableRowLoader(async (ids) => indexRowsById(await findOauthGrants(db, ids))),
  internalTokens: ({ db }) =>
    createNullableRowLoader(async (ids) => indexRowsById(await findInternalTokens(db, ids))),
  staffAccounts: ({ db }) =>
    createNullableRowLoader(async (ids) => indexRowsById(await findStaffAccounts(db, ids))),
  markets: ({ db }) => createRowListLoader("merchantId", (ids) => findMarkets(db, ids)),
  taxClasses: ({ db }) => createRowListLoader("merchantId", (ids) => findTaxClasses(db, ids)),
  taxRates: ({ db }) => createRowListLoader("marketId", (ids) => findTaxRates(db, ids)),
  deliveryNames: ({ db }) => createNullableRowLoader((ids) => findDeliveryMethodNames(db, ids)),
  deliveryMethods: ({ db }) => createRowListLoader("marketId", (ids) => findDeliveryMethods(db, ids)),
  policies: ({ db }) => createRowListLoader("merchantId", (ids) => findMerchantPolicies(db, ids)),
  promotionCodes: ({ db }) =>
    new DataLoader((pages) => loadPromotionCodePages(db, pages), {
      cacheKeyFn: (page) => `${page.promotionId} ${getPromotionCodePageCacheKey(page)}`,
    }),
  promotionCodeCounts: ({ db }) =>
    new DataLoader(async (ids) => {
      const counts = await countPromotionCodes(db, ids);
      return ids.map((id) => counts.get(id) ?? 0);
    }),
  webhookEndpoints: ({ db, clock }) => createNullableRowLoader((ids) => findEndpoints(db, ids, clock.now())),
  endpointsOfInstallations: ({ db, clock }) =>
    createRowListLoader("installationId", (ids) => findInstallationEndpoints(db, ids, clock.now())),
  signatureFixtures: ({ db, clock }) =>
    createNullableRowLoader((ids) => findEndpointsWithEncryptedSecrets(db, ids, clock.now())),
  webhookLogs: ({ db, clock }) =>
    createRowLoader((ids) => findEventsReadableByInstallations(db, ids, clock.now())),
  webhookEvents: ({ db, clock }) =>
    new DataLoader(
      async (pairs) => {
        const found = await findEventsByInstallationAndEventIds(db, pairs, clock.now());
        return pairs.map((pair) => found.get(createInstallationAndEventIdKey(pair)) ?? null);
      },
      { cacheKeyFn: createInstallationAndEventIdKey },
    ),
  webhookDeliveries: ({ db, clock }) =>
    createNullableRowLoader((ids) => findDeliveries(db, ids, clock.now())),
  deliveriesOfEvents: ({ db, clock }) =>
    createRowListLoader("eventId", (ids) => findDeliveriesOfEvents(db, ids, clock.now())),
  eventBodies: ({ db }) => createNullableRowLoader((ids) => findWebhookEventBodies(db, ids)),
  webhookBodies: ({ db }) => createNullableRowLoader((ids) => findStoredDeliveryBodies(db, ids)),
  webhookAttempts: ({ db }) => createRowListLoader("deliveryId", (ids) => findDeliveryAttempts(db, ids)),
};

class LazyLoaders {
  readonly source: LoaderSource;
  readonly created: Partial<Record<string, unknown>> = {};
  constructor(source: LoaderSource) {
    this.source = source;
  }
}

for (const [name, create] of Object.entries<(source: LoaderSource) => unknown>(loaderFactories)) {
  Object.defineProperty(LazyLoaders.prototype, name, {
    get(this: LazyLoaders) {
      return (this.created[name] ??= create(this.source));
    },
  });
}

/** Creates the data loaders of one request. */
export const createGraphqlDataLoaders = (source: LoaderSource): GraphqlDataLoaders =>
  new LazyLoaders(source) as unknown as GraphqlDataLoaders;

function createPublicProductLoader(db: Database, clock: Clock): GraphqlDataLoaders["publicProducts"] {
  return new DataLoader(
    async (addresses) => {
      const found = await findPublicProductsBySlugs(db, addresses, clock.now());
      return addresses.map((address) => found.get(getPublicProductCacheKey(address)) ?? null);
    },
    { cacheKeyFn: getPublicProductCacheKey },
  );
}

/**
 * Loads the data that decides which after-sales options several orders have. The decision is for the time
 * `now` of the first key; all keys of one request have the same time.
 */
async function loadAfterSalesFacts(
  db: Database,
  keys: readonly OrderAndEvaluationTime[],
): Promise<AfterSalesDataOutsideOrder[]> {
  const now = keys[0]?.now ?? new Date(0);
  const orders = keys.map(({ order }) => order);
  const found = await loadAfterSalesEligibilityFactsByOrder(db, orders, now);
  return orders.map(
    ({ id }) => found.get(id) ?? { now, siblingsInStock: new Map(), returnsOfBuyer: 0, changeTimes: [] },
  );
}
