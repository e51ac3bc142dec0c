/**
 * Finds the data on which a cached answer of a REST operation depends: the products, product lists and
 * merchants in the answer. The response cache removes the answer when one of them changes.
 */
import {
  findTimeOfNextProductChange,
  getProductCacheTags,
  getProductListCacheTags,
  parseCatalogChangeNotice,
  searchDependencies,
} from "#commerce/catalog/catalog-notices.ts";
import type { Database } from "#database/connect.ts";
import type { ResponseCatalogDependency } from "#gateway/contract.ts";
import {
  createResponseCache,
  type ResponseCache,
  type ResponseToCache,
  type ResponseInvalidationConditionsReader,
} from "#gateway/response-cache.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { createLimitedMemory, type LimitedMemory } from "#foundation/limited-memory.ts";
import type { InterProcessNotices } from "#database/notices.ts";
import type { ServiceSettings } from "./settings.ts";

/**
 * The ids of the products in an answer, and the cache tags of the answer: when the data of one tag changes,
 * the response cache removes the answer.
 */
interface CatalogParts {
  readonly productIds: readonly string[];
  readonly dependencies: readonly string[];
}

const partReaders: Readonly<Record<ResponseCatalogDependency, (response: ResponseToCache) => CatalogParts>> =
  {
    PRODUCT: ({ data }) => {
      const id = idOf(data);
      return { productIds: [id], dependencies: getProductCacheTags(id, idOf(fieldOf(data, "merchant"))) };
    },
    OWN_CATALOG: ({ data, merchantId }) => {
      if (merchantId === null) throw new Error("An answer about the caller's catalog has no merchant.");
      return { productIds: idsOf(data), dependencies: getProductListCacheTags(merchantId) };
    },
    ALL_CATALOGS: ({ data }) => ({ productIds: idsOf(data), dependencies: searchDependencies }),
  };

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

function idOf(value: unknown): string {
  const id = fieldOf(value, "id");
  if (typeof id !== "string") throw new Error("An answer that is to be cached has an object without an id.");
  return id;
}

function idsOf(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error("An answer that is to be cached has no list of products.");
  return value.map(idOf);
}

/**
 * Creates the memory for answers, and for the carts and orders from which answers are rendered; undefined if
 * the settings switch it off.
 */
export const createConfiguredAnswerMemory = ({
  responseCacheBytes,
}: ServiceSettings): LimitedMemory | undefined =>
  responseCacheBytes === 0 ? undefined : createLimitedMemory(responseCacheBytes);

/** Creates the response cache; undefined if there is no memory for it. */
export const createConfiguredResponseCache = (
  memory: LimitedMemory | undefined,
  { db, clock, events }: Pick<GraphqlServices, "db" | "clock" | "events">,
  { isCurrent, confirm }: InterProcessNotices,
): ResponseCache | undefined =>
  memory === undefined
    ? undefined
    : createResponseCache({
        clock,
        events,
        isCurrent,
        confirm,
        memory,
        validity: createResponseValidityReader(db),
      });

/**
 * Creates the function that finds out how long an answer can stay in the response cache. It must read from
 * the primary database, because a replica may be behind.
 */
function createResponseValidityReader(db: Database): ResponseInvalidationConditionsReader {
  return {
    parseNotice: parseCatalogChangeNotice,
    read: async (kind, response) => {
      const { productIds, dependencies } = partReaders[kind](response);
      const validUntil = await findTimeOfNextProductChange(db, productIds, response.beganAt);
      return { dependencies, validUntil };
    },
  };
}
