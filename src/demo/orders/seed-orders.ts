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
import { type CartsPlace, type Drawn, drawCarts, readMarkets } from "#demo/carts/draw-carts.ts";
import {
  type DemoFile,
  type OrderName,
  orderNames,
  type SessionName,
  sessionNames,
} from "#demo/demo-file.ts";
import { cartRows, insertCarts } from "#demo/rows/cart-rows.ts";
import { Failure } from "#foundation/failure.ts";
import type { Scene, Subjects } from "./story-steps.ts";
import { stories, type Story } from "./stories.ts";

export interface OrdersPlace extends CartsPlace, Pick<DemoFile, "promotionCodes"> {
  readonly publicUrl: string;
}

export interface SeededOrders extends Pick<DemoFile, "sessions" | "orders"> {
  readonly carts: Readonly<Record<"locked" | "completed", string>>;
}

/**
 * Only the carts where the merchants no longer sell what the stories are about, or no longer as they are
 * told.
 */
export type Seeded = SeededOrders | Pick<SeededOrders, "carts">;

export async function seedOrders(transaction: Transaction, place: OrdersPlace): Promise<Seeded> {
  const markets = await readMarkets(transaction, place.owners);
  const drawn = await drawCarts(transaction, { ...place, markets, entries: stories });
  const told = drawn.every(isSold) ? await tellAll(transaction, { ...place, drawn }) : undefined;
  if (told !== undefined) return named(told);
  await insertAll(transaction, drawn);
  return { carts: cartsOf(drawn.map(({ entry, cart }) => ({ entry, cartId: cart.id }))) };
}

/** All that it is about is there to be bought, and goes where its buyer lives. */
function isSold({ entry, cart: { next } }: Drawn<Story>): boolean {
  const isWhole = next.lines.length === entry.lines.length && next.warnings.length === 0;
  return isWhole && next.country === entry.country && next.deliveryMethodId !== null;
}

type Played = Subjects & { readonly entry: Story };

interface Stage extends OrdersPlace {
  readonly drawn: readonly Drawn<Story>[];
}

/**
 * What is saved once in a transaction (a cart, an order) is saved more often in one of a story, as it would
 * be in transactions of its own. To the database that is so: what was written before a savepoint ended was
 * written by another. The last save is outside of it.
 */
async function tellAll(transaction: Transaction, stage: Stage): Promise<readonly Played[] | undefined> {
  await sql`savepoint stories`.execute(transaction);
  try {
    await insertAll(transaction, stage.drawn);
    const played: Played[] = [];
    for (const { entry, cart } of stage.drawn)
      played.push({ entry, ...(await play(transaction, { entry, cartId: cart.id, stage })) });
    await sql`release savepoint stories`.execute(transaction);
    await saveLast(transaction, played);
    return played;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await sql`rollback to savepoint stories`.execute(transaction);
    await sql`release savepoint stories`.execute(transaction);
    return undefined;
  }
}

async function insertAll(transaction: Transaction, drawn: readonly Drawn<Story>[]): Promise<void> {
  await insertCarts(
    transaction,
    drawn.map(({ cart }) => cartRows(cart, { status: "active", version: 1 })),
  );
}

interface Playing {
  readonly entry: Story;
  readonly cartId: string;
  readonly stage: Stage;
}

const minuteMs = 60_000;

async function play(transaction: Transaction, { entry, cartId, stage }: Playing): Promise<Subjects> {
  const subjects: Subjects = { cartId, sessionId: null, orderId: null };
  for (const [minutesAgo, step] of entry.steps) {
    const now = new Date(stage.now.getTime() - minutesAgo * minuteMs);
    Object.assign(
      subjects,
      await step({ transaction, ...subjects, tenantFor: tenantsAt(now, { entry, stage }) }),
    );
  }
  return subjects;
}

function tenantsAt(now: Date, { entry, stage }: Pick<Playing, "entry" | "stage">): Scene["tenantFor"] {
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

async function saveLast(transaction: Transaction, played: readonly Played[]): Promise<void> {
  const orderIds = played.flatMap(({ orderId }) => orderId ?? []);
  await sql`update cart set version = version + 1 where id = any(${played.map(({ cartId }) => cartId)}::text[])`.execute(
    transaction,
  );
  await sql`update sales_order set version = version + 1 where id = any(${orderIds}::text[])`.execute(
    transaction,
  );
}

function named(played: readonly Played[]): SeededOrders {
  const sessions = new Map(played.map(({ entry, sessionId }) => [entry.session, sessionId]));
  const orders = new Map(played.map(({ entry, orderId }) => [entry.order, orderId]));
  return {
    carts: cartsOf(played),
    sessions: Object.fromEntries(
      sessionNames.map((name) => [name, required(sessions.get(name), name)]),
    ) as Record<SessionName, string>,
    orders: Object.fromEntries(orderNames.map((name) => [name, required(orders.get(name), name)])) as Record<
      OrderName,
      string
    >,
  };
}

function cartsOf(told: readonly { readonly entry: Story; readonly cartId: string }[]): SeededOrders["carts"] {
  const idOf = (name: "locked" | "completed"): string =>
    required(told.find(({ entry }) => entry.cartName === name)?.cartId, name);
  return { locked: idOf("locked"), completed: idOf("completed") };
}

function required(id: string | null | undefined, name: string): string {
  if (id === null || id === undefined) throw new Error(`The demo tells no story of ${name}.`);
  return id;
}
