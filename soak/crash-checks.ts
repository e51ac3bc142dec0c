/** Compares the effects of writes in the database with the acknowledged writes. */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";

/** A write that the service answered with status 200. */
export interface AcknowledgedWrite {
  readonly key: string;
  readonly kind: "address" | "line" | "promotion" | "stock";
  readonly cartId: string;
  /** The variant of a line or of a stock movement; null for other writes. */
  readonly variantId: string | null;
  /** The version of the cart after the write; null if the write changed no cart. */
  readonly version: number | null;
}

export interface AcknowledgedWrites {
  readonly done: readonly AcknowledgedWrite[];
  readonly carts: readonly string[];
}

export async function findEffectFaults(db: Database, acknowledged: AcknowledgedWrites): Promise<string[]> {
  const faults: string[] = [];
  for (const cartId of acknowledged.carts) {
    const done = acknowledged.done.filter((one) => one.cartId === cartId && one.kind !== "stock");
    faults.push(...(await cartFaults(db, cartId, done)));
  }
  return [
    ...faults,
    ...(await stockFaults(db, acknowledged)),
    ...(await recordFaults(db, acknowledged.done)),
  ];
}

const eventTypes: Readonly<Record<AcknowledgedWrite["kind"], readonly string[]>> = {
  address: ["cart.address_set"],
  line: ["cart.updated"],
  promotion: ["cart.promotion_applied", "cart.promotion_removed"],
  stock: [],
};

/** Checks that every version of a cart has one event, and that its type matches the write. */
async function cartFaults(
  db: Database,
  cartId: string,
  done: readonly AcknowledgedWrite[],
): Promise<string[]> {
  const cart = await db
    .selectFrom("cart")
    .select("version")
    .where("id", "=", cartId)
    .executeTakeFirstOrThrow();
  const events = await db
    .selectFrom("event")
    .select(["type", "subjectVersion"])
    .where("subjectId", "=", cartId)
    .execute();
  const lines = await db
    .selectFrom("cartLine")
    .select(["variantId", "quantity"])
    .where("cartId", "=", cartId)
    .execute();
  const addresses = await db
    .selectFrom("personalData")
    .select("id")
    .where("cartId", "=", cartId)
    .where("kind", "=", "address")
    .execute();
  const faults: string[] = [];
  if (cart.version !== 1 + done.length)
    faults.push(`Cart ${cartId} has version ${cart.version} after ${done.length} changes.`);
  if (events.length !== 1 + done.length)
    faults.push(`Cart ${cartId} has ${events.length} events after ${done.length} changes.`);
  const byVersion = Map.groupBy(events, ({ subjectVersion }) => subjectVersion);
  for (const { key, kind, version } of done) {
    const types = (byVersion.get(version ?? 0) ?? []).map(({ type }) => type);
    if (types.length === 0) faults.push(`Lost: ${kind} ${key} of cart ${cartId} at version ${version}.`);
    else if (types.length > 1 || !eventTypes[kind].includes(types[0] ?? ""))
      faults.push(`${kind} ${key} published the events ${types.join(", ")}.`);
  }
  const quantity = lines.reduce((sum, line) => sum + line.quantity, 0);
  const added = done.filter(({ kind }) => kind === "line").length;
  if (quantity !== 1 + added)
    faults.push(`Cart ${cartId} has ${quantity} units after ${added} units were added to 1.`);
  const addressed = done.filter(({ kind }) => kind === "address").length;
  if (addresses.length !== addressed)
    faults.push(`Cart ${cartId} has ${addresses.length} stored addresses, although ${addressed} were set.`);
  return faults;
}

async function stockFaults(db: Database, { done }: AcknowledgedWrites): Promise<string[]> {
  const adjusted = done.filter(({ kind }) => kind === "stock");
  const { rows } = await sql<{ note: string; count: number }>`
    select note, count(*)::int as count from stock_movement where note is not null group by note`.execute(db);
  const movements = new Map(rows.map(({ note, count }) => [note, count]));
  const faults = adjusted
    .filter(({ key }) => movements.get(key) !== 1)
    .map(({ key }) => `${key} moved stock ${movements.get(key) ?? 0} times instead of once.`);
  const { rows: levels } = await sql<{ variantId: string; onHand: number; moved: number }>`
    select l.variant_id, l.on_hand, coalesce(sum(m.delta), 0)::int as moved
    from stock_level l left join stock_movement m using (variant_id)
    group by l.variant_id, l.on_hand`.execute(db);
  for (const { variantId, onHand, moved } of levels) {
    if (onHand !== moved)
      faults.push(`${variantId} has ${onHand} units on hand, but the sum of its movements is ${moved}.`);
  }
  return faults;
}

async function recordFaults(db: Database, done: readonly AcknowledgedWrite[]): Promise<string[]> {
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::int as count from idempotency_record`.execute(db);
  const recorded = rows[0]?.count ?? 0;
  return recorded >= done.length ? [] : [`${recorded} idempotency records exist for ${done.length} answers.`];
}
