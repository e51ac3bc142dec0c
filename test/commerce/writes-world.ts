/** Two merchants with markets in a separate database, and helpers of the tests of catalog, stock and markets. */
import { sql } from "kysely";
import { expect } from "vitest";
import { createProduct, type CreateProductInput } from "#commerce/catalog/change-product.ts";
import { setPrices } from "#commerce/catalog/set-prices.ts";
import { publishProduct } from "#commerce/catalog/publish-product.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { upsertMarket } from "#commerce/markets/change-market.ts";
import type { Database, OpenedDatabase } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import type { Open } from "#test/support/databases.ts";
import type { DomainEvent } from "#webhooks/outbox.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";

export interface World {
  readonly database: OpenedDatabase;
  readonly db: Database;
  readonly context: MerchantCommandContext;
  readonly other: MerchantCommandContext;
  /** The market with the countries DE and AT, in EUR; the other market has US, in USD. */
  readonly europe: string;
  readonly america: string;
  readonly otherMarket: string;
  /** Returns the product ids of each reindexing since the last call. */
  takeIndexed(): string[][];
  /** Returns the events published since the last call. */
  takeEvents(): DomainEvent[];
  /** The same merchant's context, the given number of milliseconds later. */
  later(milliseconds: number): MerchantCommandContext;
  run<Input, Result>(
    verb: Verb<Input, Result>,
    input: Input,
    context?: MerchantCommandContext,
  ): Promise<Result>;
  /** Runs a command and returns its refusal. Also checks that the refused command wrote and reindexed nothing. */
  refusal<Input, Result>(
    verb: Verb<Input, Result>,
    input: Input,
    context?: MerchantCommandContext,
  ): Promise<Refusal>;
}

export type Verb<Input, Result> = (
  transaction: Transaction,
  context: MerchantCommandContext,
  input: Input,
) => Promise<Result>;

export const startOfWorld = new Date("2026-03-01T12:00:00.000Z");

export async function createWorld(open: Open): Promise<World> {
  const database = await open();
  const { db } = database;
  for (const id of ["mer_one", "mer_two"]) {
    await db
      .insertInto("merchant")
      .values({
        id,
        slug: id.replace("_", "-"),
        name: id,
        mode: "test",
        defaultLocale: "de",
        defaultMarket: "DE",
        createdAt: startOfWorld,
        updatedAt: startOfWorld,
      })
      .execute();
  }
  let indexed: string[][] = [];
  const reindex: MerchantCommandContext["reindex"] = (_, productIds) => {
    indexed.push([...productIds]);
    return Promise.resolve();
  };
  let events: DomainEvent[] = [];
  const outbox: MerchantCommandContext["outbox"] = {
    append: (event) => void events.push(event),
    appendLast: (createEvents) => void events.push(...createEvents()),
  };
  const contextOf = (merchantId: string, now = startOfWorld): MerchantCommandContext => ({
    merchantId,
    now,
    reindex,
    outbox,
  });
  const context = contextOf("mer_one");
  const other = contextOf("mer_two");
  const run: World["run"] = (verb, input, as = context) =>
    runInTransaction(db, (transaction) => verb(transaction, as, input));
  const { marketId: europe } = await run(upsertMarket, europeInput);
  const { marketId: america } = await run(upsertMarket, americaInput);
  const { marketId: otherMarket } = await run(upsertMarket, europeInput, other);
  const world: World = {
    database,
    db,
    context,
    other,
    europe,
    america,
    otherMarket,
    run,
    refusal: (verb, input, as) => refusalOf(world, () => run(verb, input, as)),
    takeIndexed: () => {
      const taken = indexed;
      indexed = [];
      return taken;
    },
    takeEvents: () => {
      const taken = events;
      events = [];
      return taken;
    },
    later: (milliseconds) => contextOf("mer_one", new Date(startOfWorld.getTime() + milliseconds)),
  };
  return world;
}

export const europeInput = {
  handle: "europe",
  name: "Europe",
  currency: "EUR",
  taxIncluded: true,
  defaultLocale: "de",
  timeZone: "Europe/Berlin",
  countries: ["DE", "AT"],
};

const americaInput = {
  handle: "america",
  name: "America",
  currency: "USD",
  taxIncluded: false,
  defaultLocale: "en-US",
  timeZone: "America/New_York",
  countries: ["US"],
};

let count = 0;

/** Returns a name that no test has used yet. */
export function fresh(stem: string): string {
  count += 1;
  return `${stem}-${count}`;
}

export async function makeProduct(
  world: World,
  input: Partial<CreateProductInput> = {},
  context = world.context,
): Promise<string> {
  const { productId } = await world.run(
    createProduct,
    { translations: [{ locale: "de", slug: fresh("tasse"), title: "Tasse" }], ...input },
    context,
  );
  return productId;
}

/** Creates a product with one variant that is on sale in Europe. */
export async function makePublished(world: World): Promise<{ productId: string; variantId: string }> {
  const productId = await makeProduct(world);
  const { variantId } = await world.run(upsertVariant, { productId, sku: fresh("SKU"), options: [] });
  await world.run(setPrices, { prices: [{ variantId, marketId: world.europe, amountMinor: 1000 }] });
  await world.run(publishProduct, { productId });
  world.takeIndexed();
  return { productId, variantId };
}

export interface Refusal {
  readonly code: string;
  readonly details: string[];
  readonly conflict: unknown;
}

const tables = `merchant market market_country tax_rate delivery_method policy category product product_slug
  product_translation product_category product_option media variant price stock_level stock_movement promotion
  promotion_code promotion_buyer promotion_use`.split(/\s+/);

/** Reads every row of the catalog and of its promotions, to prove that nothing was written. */
async function everyRow(world: World): Promise<string> {
  const parts = tables.map(
    (table) =>
      sql`select ${sql.lit(table)} as name, coalesce(jsonb_agg(to_jsonb(t)
        order by to_jsonb(t)::text), '[]')::text as rows from ${sql.table(table)} t`,
  );
  const { rows } = await sql`${sql.join(parts, sql` union all `)}`.execute(world.db);
  return JSON.stringify(rows);
}

async function refusalOf(world: World, work: () => Promise<unknown>): Promise<Refusal> {
  const before = await everyRow(world);
  world.takeIndexed();
  const thrown: unknown = await work().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(await everyRow(world)).toBe(before);
  expect(world.takeIndexed()).toEqual([]);
  // A rolled-back transaction's events are discarded.
  world.takeEvents();
  if (!(thrown instanceof Failure)) throw thrown instanceof Error ? thrown : new Error("It was not refused.");
  return {
    code: thrown.code,
    details: (thrown.parts.details ?? []).map(({ in: where, field, code }) => `${where} ${field} ${code}`),
    conflict: thrown.parts.conflict ?? null,
  };
}

export interface Versions {
  readonly product: number;
  readonly catalog: number;
}

/** Counts by how much a product's and the catalog's versions rise during the call. */
export async function countVersionRises(
  world: World,
  productId: string,
  work: () => Promise<unknown>,
): Promise<Versions> {
  const before = await versionsOf(world, productId);
  await work();
  const after = await versionsOf(world, productId);
  return { product: after.product - before.product, catalog: after.catalog - before.catalog };
}

async function versionsOf(world: World, productId: string): Promise<Versions> {
  const row = await world.db
    .selectFrom("merchant")
    .leftJoin("product", (join) => join.on("product.id", "=", productId))
    .select(["merchant.catalogVersion", "product.version"])
    .where("merchant.id", "=", world.context.merchantId)
    .executeTakeFirstOrThrow();
  return { product: row.version ?? 0, catalog: row.catalogVersion };
}
