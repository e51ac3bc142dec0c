/**
 * Gives the demo's merchants checkouts and orders in every state, all in the transaction of the caller, by
 * the functions that make and change any: prices, stock, promotions, payments and deadlines are what they
 * would be, only earlier. Nothing is told of them: who subscribes later does not want to hear of days
 * before.
 */
import { createServiceEvents } from "#foundation/events.ts";
import { sql } from "kysely";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  type CartSeedContext,
  type PricedDemoCart,
  priceDemoCarts,
  loadMarketLookup,
} from "#demo/carts/price-carts.ts";
import {
  type DemoFile,
  type DemoOrderName,
  demoOrderNames,
  type DemoSessionName,
  demoSessionNames,
} from "#demo/demo-file.ts";
import { createCartRows, insertCartRows } from "#demo/rows/cart-rows.ts";
import { Failure } from "#foundation/failure.ts";
import type { ScenarioContext, ScenarioSubjects } from "./scenario-steps.ts";
import { orderScenarios, type OrderScenario } from "./order-scenarios.ts";

export interface OrderSeedContext extends CartSeedContext, Pick<DemoFile, "promotionCodes"> {
  readonly publicUrl: string;
}

export interface CompleteOrderSeed extends Pick<DemoFile, "sessions" | "orders"> {
  readonly carts: Readonly<Record<"locked" | "completed", string>>;
}

/**
 * Only the carts where the merchants no longer sell what the stories are about, or no longer as they are
 * told.
 */
export type OrderSeedResult = CompleteOrderSeed | Pick<CompleteOrderSeed, "carts">;

export async function seedOrders(
  transaction: Transaction,
  place: OrderSeedContext,
): Promise<OrderSeedResult> {
  const markets = await loadMarketLookup(transaction, place.owners);
  const drawn = await priceDemoCarts(transaction, { ...place, markets, entries: orderScenarios });
  const told = drawn.every(isAvailableAsPlanned)
    ? await runAllScenarios(transaction, { ...place, drawn })
    : undefined;
  if (told !== undefined) return toCompleteOrderSeed(told);
  await insertScenarioCarts(transaction, drawn);
  return { carts: getNamedCarts(drawn.map(({ entry, cart }) => ({ entry, cartId: cart.id }))) };
}

/** All that it is about is there to be bought, and goes where its buyer lives. */
function isAvailableAsPlanned({ entry, cart: { next } }: PricedDemoCart<OrderScenario>): boolean {
  const isWhole = next.lines.length === entry.lines.length && next.warnings.length === 0;
  return isWhole && next.country === entry.country && next.deliveryMethodId !== null;
}

type ScenarioResult = ScenarioSubjects & { readonly entry: OrderScenario };

interface ScenarioRunContext extends OrderSeedContext {
  readonly drawn: readonly PricedDemoCart<OrderScenario>[];
}

/**
 * What is saved once in a transaction (a cart, an order) is saved more often in one of a story, as it would
 * be in transactions of its own. To the database that is so: what was written before a savepoint ended was
 * written by another. The last save is outside of it.
 */
async function runAllScenarios(
  transaction: Transaction,
  stage: ScenarioRunContext,
): Promise<readonly ScenarioResult[] | undefined> {
  await sql`savepoint stories`.execute(transaction);
  try {
    await insertScenarioCarts(transaction, stage.drawn);
    const played: ScenarioResult[] = [];
    for (const { entry, cart } of stage.drawn)
      played.push({ entry, ...(await runScenario(transaction, { entry, cartId: cart.id, stage })) });
    await sql`release savepoint stories`.execute(transaction);
    await incrementVersions(transaction, played);
    return played;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await sql`rollback to savepoint stories`.execute(transaction);
    await sql`release savepoint stories`.execute(transaction);
    return undefined;
  }
}

async function insertScenarioCarts(
  transaction: Transaction,
  drawn: readonly PricedDemoCart<OrderScenario>[],
): Promise<void> {
  await insertCartRows(
    transaction,
    drawn.map(({ cart }) => createCartRows(cart, { status: "active", version: 1 })),
  );
}

interface ScenarioRun {
  readonly entry: OrderScenario;
  readonly cartId: string;
  readonly stage: ScenarioRunContext;
}

const minuteMs = 60_000;

async function runScenario(
  transaction: Transaction,
  { entry, cartId, stage }: ScenarioRun,
): Promise<ScenarioSubjects> {
  const subjects: ScenarioSubjects = { cartId, sessionId: null, orderId: null };
  for (const [minutesAgo, step] of entry.steps) {
    const now = new Date(stage.now.getTime() - minutesAgo * minuteMs);
    Object.assign(
      subjects,
      await step({ transaction, ...subjects, tenantFor: createContextFor(now, { entry, stage }) }),
    );
  }
  return subjects;
}

function createContextFor(
  now: Date,
  { entry, stage }: Pick<ScenarioRun, "entry" | "stage">,
): ScenarioContext["tenantFor"] {
  const { owners, keyring, publicUrl } = stage;
  return (actor: OrderActor) => ({
    merchantId: owners[entry.owner].id,
    now,
    keyring,
    publicUrl,
    actor,
    buyerReference: actor === "buyer" ? entry.buyer.reference : null,
    cancelActor: actor === "merchant" ? "staff" : actor,
    tokenId: null,
    outbox: { append: () => undefined, appendLast: () => undefined },
    events: createServiceEvents(),
    reindex: () => Promise.resolve(),
  });
}

async function incrementVersions(transaction: Transaction, played: readonly ScenarioResult[]): Promise<void> {
  const orderIds = played.flatMap(({ orderId }) => orderId ?? []);
  await sql`update cart set version = version + 1 where id = any(${played.map(({ cartId }) => cartId)}::text[])`.execute(
    transaction,
  );
  await sql`update sales_order set version = version + 1 where id = any(${orderIds}::text[])`.execute(
    transaction,
  );
}

function toCompleteOrderSeed(played: readonly ScenarioResult[]): CompleteOrderSeed {
  const sessions = new Map(played.map(({ entry, sessionId }) => [entry.session, sessionId]));
  const orders = new Map(played.map(({ entry, orderId }) => [entry.order, orderId]));
  return {
    carts: getNamedCarts(played),
    sessions: Object.fromEntries(
      demoSessionNames.map((name) => [name, requireScenarioId(sessions.get(name), name)]),
    ) as Record<DemoSessionName, string>,
    orders: Object.fromEntries(
      demoOrderNames.map((name) => [name, requireScenarioId(orders.get(name), name)]),
    ) as Record<DemoOrderName, string>,
  };
}

function getNamedCarts(
  told: readonly { readonly entry: OrderScenario; readonly cartId: string }[],
): CompleteOrderSeed["carts"] {
  const idOf = (name: "locked" | "completed"): string =>
    requireScenarioId(told.find(({ entry }) => entry.cartName === name)?.cartId, name);
  return { locked: idOf("locked"), completed: idOf("completed") };
}

function requireScenarioId(id: string | null | undefined, name: string): string {
  if (id === null || id === undefined) throw new Error(`The demo tells no story of ${name}.`);
  return id;
}
