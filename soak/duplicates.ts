/**
 * Tests guarantee 2. Each write is sent many times at the same moment, to all processes. The write must be
 * executed once, and all successful answers must be equal.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { Report } from "./report.ts";
import {
  createAddressWrite,
  type SendRequest,
  openCart,
  parseAnswer,
  type Shop,
  createStockWrite,
  type ParsedAnswer,
  type Write,
} from "./shop.ts";

export interface DuplicatesPlan {
  readonly engine: Report["engine"];
  /** Functions that each send requests to one process. All processes use the same database. */
  readonly senders: readonly [SendRequest, ...SendRequest[]];
  readonly copies: number;
  readonly isOver: (counts: { readonly keys: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

export interface SentWrite {
  readonly write: Write;
  /** The cart whose address was changed; null if stock was changed. */
  readonly cartId: string | null;
}

interface Counts {
  keys: number;
  answers: number;
  replays: number;
  inProgress: number;
}

export interface DuplicatesRun extends Report {
  readonly sent: readonly SentWrite[];
}

export async function runDuplicates(shop: Shop, plan: DuplicatesPlan): Promise<DuplicatesRun> {
  const { senders, engine, isOver } = plan;
  const [first] = senders;
  const counts: Counts = { keys: 0, answers: 0, replays: 0, inProgress: 0 };
  const sent: SentWrite[] = [];
  const violations: string[] = [];
  let cart = await openCart(first, shop);
  while (!isOver(counts)) {
    if (counts.keys % cartEvery === cartEvery - 1) cart = await openCart(first, shop);
    const isStock = counts.keys % 2 === 0;
    const variantId = shop.variantIds[counts.keys % shop.variantIds.length] ?? "";
    const write = isStock ? createStockWrite(shop, variantId) : createAddressWrite(shop, cart.id);
    violations.push(...(await sendCopies(write, plan, counts)));
    sent.push({ write, cartId: isStock ? null : cart.id });
    counts.keys += 1;
    if (counts.keys % 50 === 0) plan.onStep?.(`${engine}: ${counts.keys} keys, ${counts.answers} answers`);
  }
  return { figure: "duplicates", engine, counts: { ...counts }, violations, sent };
}

const cartEvery = 100;

async function sendCopies(
  { key, request }: Write,
  { senders, copies }: DuplicatesPlan,
  counts: Counts,
): Promise<string[]> {
  const askAt = (index: number): SendRequest => senders[index % senders.length] ?? senders[0];
  const answers: ParsedAnswer[] = await Promise.all(
    Array.from({ length: copies }, async (_, index) => parseAnswer(await askAt(index)(request))),
  );
  const late = parseAnswer(await askAt(counts.keys)(request));
  const done = answers.filter(({ status, code }) => status === 200 && code === undefined);
  const turnedAway = answers.filter(
    ({ status, code }) => status === 409 && code === "idempotency_in_progress",
  );
  counts.answers += answers.length;
  counts.inProgress += turnedAway.length;
  counts.replays += done.length - 1;
  const others = answers.filter((one) => !done.includes(one) && !turnedAway.includes(one));
  const effects = done.filter(({ isReplay }) => !isReplay).length;
  return [
    ...others.map(
      ({ status, code, text }) => `${key} was answered with ${status} ${code}: ${text.slice(0, 300)}`,
    ),
    ...(effects === 1 ? [] : [`${key} is said to have had ${effects} effects.`]),
    ...(new Set([...done, late].map(({ text }) => text)).size === 1 ? [] : [`${key} had different answers.`]),
    ...(late.isReplay ? [] : [`${key} had an effect again.`]),
  ];
}

/** Returns a fault for each write that, according to the database, was not executed exactly once. */
export async function findDuplicateFaults(db: Database, sent: readonly SentWrite[]): Promise<string[]> {
  const { rows: movements } = await sql<{ note: string; count: number }>`
    select note, count(*)::int as count from stock_movement where note is not null group by note`.execute(db);
  const moved = new Map(movements.map(({ note, count }) => [note, count]));
  const { rows: events } = await sql<{ id: string; count: number; version: number }>`
    select c.id, c.version, count(e.id)::int as count
    from cart c join event e on e.subject_id = c.id and e.type = 'cart.address_set'
    group by c.id, c.version`.execute(db);
  const carts = new Map(events.map((row) => [row.id, row]));
  const byCart = Map.groupBy(sent, ({ cartId }) => cartId);
  return [
    ...(byCart.get(null) ?? [])
      .filter(({ write }) => moved.get(write.key) !== 1)
      .map(({ write }) => `${write.key} moved stock ${moved.get(write.key) ?? 0} times.`),
    ...[...byCart].flatMap(([cartId, { length }]) => {
      const found = cartId === null ? undefined : carts.get(cartId);
      if (cartId === null || (found?.count === length && found.version === length + 1)) return [];
      return [
        `Cart ${cartId} had its address set ${found?.count ?? 0} times to version ${found?.version}, ` +
          `with ${length} keys.`,
      ];
    }),
  ];
}
