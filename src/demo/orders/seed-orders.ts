/**
 * Adds checkouts and orders in every status, in the caller's transaction. The scenarios call the functions of
 * the service with times in the past, so that prices, stock, promotions, payments and deadlines match each
 * other. No events are published, because webhook endpoints must not receive events about the past.
 */
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { sql } from "kysely";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  type DemoCartSeedContext,
  type PricedDemoCart,
  priceDemoCarts,
  loadDemoMarketLookupFunctions,
} from "#demo/carts/price-carts.ts";
import {
  type DemoJsonFileContent,
  type DemoOrderName,
  demoOrderNames,
  type DemoCheckoutSessionName,
  demoSessionNames,
} from "#demo/demo-file.ts";
import { createDemoCartRows, insertDemoCartRows } from "#demo/rows/cart-rows.ts";
import { Failure } from "#foundation/failure.ts";
import type { DemoOrderScenarioContext, DemoOrderScenarioObjectIds } from "./scenario-context.ts";
import { orderScenarios, type DemoOrderScenario } from "./order-scenarios.ts";

export interface DemoOrderSeedContext
  extends DemoCartSeedContext, Pick<DemoJsonFileContent, "promotionCodes"> {
  readonly publicUrl: string;
}

/** Ids of the added carts, checkout sessions and orders, by their names in demo.json. */
export interface SeededOrderIds extends Pick<DemoJsonFileContent, "sessions" | "orders"> {
  readonly carts: Readonly<Record<"locked" | "completed", string>>;
}

/**
 * The ids of the added objects. Checkouts and orders are missing if the merchants no longer sell the products
 * of the scenarios, or if the service refuses a step of a scenario.
 */
export type DemoOrderSeedResult = SeededOrderIds | Pick<SeededOrderIds, "carts">;

export async function seedDemoOrders(
  transaction: Transaction,
  context: DemoOrderSeedContext,
): Promise<DemoOrderSeedResult> {
  const marketLookup = await loadDemoMarketLookupFunctions(transaction, context.owners);
  const pricedCarts = await priceDemoCarts(transaction, {
    ...context,
    marketLookup,
    definitions: orderScenarios,
  });
  const results = pricedCarts.every(isAvailableAsPlanned)
    ? await runAllScenarios(transaction, { ...context, pricedCarts })
    : undefined;
  if (results !== undefined) return toCompleteOrderSeed(results);
  await insertScenarioCarts(transaction, pricedCarts);
  return {
    carts: getNamedCarts(
      pricedCarts.map(({ definition, cart }) => ({ scenario: definition, cartId: cart.id })),
    ),
  };
}

/**
 * Creates a cart and opens a checkout session, as the scenario `open` does. Returns undefined if the products
 * are no longer sold or are not in stock.
 */
export async function seedOpenCheckoutSession(
  transaction: Transaction,
  context: DemoOrderSeedContext,
): Promise<{ readonly cartId: string; readonly sessionId: string } | undefined> {
  const marketLookup = await loadDemoMarketLookupFunctions(transaction, context.owners);
  const definitions = orderScenarios.filter(({ session }) => session === "open");
  const pricedCarts = await priceDemoCarts(transaction, { ...context, marketLookup, definitions });
  if (!pricedCarts.every(isAvailableAsPlanned)) return undefined;
  const [result] = (await runAllScenarios(transaction, { ...context, pricedCarts })) ?? [];
  return result === undefined
    ? undefined
    : { ...result, sessionId: requireScenarioId(result.sessionId, "open") };
}

/**
 * Returns true if a demo cart can be checked out. Pricing must not have added a warning or removed a line of
 * the scenario, and the cart must be deliverable to the buyer's country.
 */
function isAvailableAsPlanned({ definition, cart: { next } }: PricedDemoCart<DemoOrderScenario>): boolean {
  const isWhole = next.lines.length === definition.lines.length && next.warnings.length === 0;
  return isWhole && next.country === definition.country && next.deliveryMethodId !== null;
}

type ScenarioResult = DemoOrderScenarioObjectIds & { readonly scenario: DemoOrderScenario };

interface ScenarioRunContext extends DemoOrderSeedContext {
  readonly pricedCarts: readonly PricedDemoCart<DemoOrderScenario>[];
}

/**
 * Runs all scenarios inside a savepoint. If the service refuses a step, undoes all changes and returns
 * undefined. Outside a savepoint, the database would refuse to save the same cart or order more than once per
 * transaction. `incrementVersions` therefore saves each cart and order once more after the savepoint.
 */
async function runAllScenarios(
  transaction: Transaction,
  runContext: ScenarioRunContext,
): Promise<readonly ScenarioResult[] | undefined> {
  await sql`savepoint scenarios`.execute(transaction);
  try {
    await insertScenarioCarts(transaction, runContext.pricedCarts);
    const results: ScenarioResult[] = [];
    for (const { definition: scenario, cart } of runContext.pricedCarts)
      results.push({
        scenario,
        ...(await runScenario(transaction, { scenario, cartId: cart.id, runContext })),
      });
    await sql`release savepoint scenarios`.execute(transaction);
    await incrementVersions(transaction, results);
    return results;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await sql`rollback to savepoint scenarios`.execute(transaction);
    await sql`release savepoint scenarios`.execute(transaction);
    return undefined;
  }
}

async function insertScenarioCarts(
  transaction: Transaction,
  pricedCarts: readonly PricedDemoCart<DemoOrderScenario>[],
): Promise<void> {
  await insertDemoCartRows(
    transaction,
    pricedCarts.map(({ cart }) => createDemoCartRows(cart, { status: "active", version: 1 })),
  );
}

interface ScenarioRun {
  readonly scenario: DemoOrderScenario;
  readonly cartId: string;
  readonly runContext: ScenarioRunContext;
}

const minuteMs = 60_000;

async function runScenario(
  transaction: Transaction,
  { scenario, cartId, runContext }: ScenarioRun,
): Promise<DemoOrderScenarioObjectIds> {
  const subjects: DemoOrderScenarioObjectIds = { cartId, sessionId: null, orderId: null };
  for (const [minutesAgo, step] of scenario.steps) {
    const now = new Date(runContext.now.getTime() - minutesAgo * minuteMs);
    Object.assign(
      subjects,
      await step({
        transaction,
        ...subjects,
        commandContextFor: createContextFor(now, { scenario, runContext }),
      }),
    );
  }
  return subjects;
}

function createContextFor(
  now: Date,
  { scenario, runContext }: Pick<ScenarioRun, "scenario" | "runContext">,
): DemoOrderScenarioContext["commandContextFor"] {
  const { owners, keyring, publicUrl } = runContext;
  return (actor: OrderActor) => ({
    merchantId: owners[scenario.owner].id,
    now,
    keyring,
    publicUrl,
    actor,
    buyerReference: actor === "buyer" ? scenario.buyer.reference : null,
    buyerSessionId: null,
    cancelActor: actor === "merchant" ? "staff" : actor,
    tokenId: null,
    outbox: { append: () => undefined, appendLast: () => undefined },
    events: createInProcessEventEmitter(),
    reindex: () => Promise.resolve(),
  });
}

/**
 * Increments the version of every cart and order of the scenarios, outside the savepoint. Without this last
 * save outside a savepoint, the database would refuse the changed lines of the carts and orders at the
 * commit.
 */
async function incrementVersions(
  transaction: Transaction,
  results: readonly ScenarioResult[],
): Promise<void> {
  const orderIds = results.flatMap(({ orderId }) => orderId ?? []);
  await sql`update cart set version = version + 1 where id =
    any(${results.map(({ cartId }) => cartId)}::text[])`.execute(transaction);
  await sql`update sales_order set version = version + 1 where id = any(${orderIds}::text[])`.execute(
    transaction,
  );
}

function toCompleteOrderSeed(results: readonly ScenarioResult[]): SeededOrderIds {
  const sessions = new Map(results.map(({ scenario, sessionId }) => [scenario.session, sessionId]));
  const orders = new Map(results.map(({ scenario, orderId }) => [scenario.order, orderId]));
  return {
    carts: getNamedCarts(results),
    sessions: Object.fromEntries(
      demoSessionNames.map((name) => [name, requireScenarioId(sessions.get(name), name)]),
    ) as Record<DemoCheckoutSessionName, string>,
    orders: Object.fromEntries(
      demoOrderNames.map((name) => [name, requireScenarioId(orders.get(name), name)]),
    ) as Record<DemoOrderName, string>,
  };
}

function getNamedCarts(
  scenarioCarts: readonly { readonly scenario: DemoOrderScenario; readonly cartId: string }[],
): SeededOrderIds["carts"] {
  const idOf = (name: "locked" | "completed"): string =>
    requireScenarioId(scenarioCarts.find(({ scenario }) => scenario.cartName === name)?.cartId, name);
  return { locked: idOf("locked"), completed: idOf("completed") };
}

function requireScenarioId(id: string | null | undefined, name: string): string {
  if (id === null || id === undefined) throw new Error(`No order scenario has the name "${name}".`);
  return id;
}
