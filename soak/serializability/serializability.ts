/**
 * Tests guarantees 6 and 23: concurrent clients read and change carts, orders, stock and promotion codes over
 * two processes, and a checker judges the history of their operations. The history is judged in parts. Each
 * part has carts and orders of its own and ends when all clients have stopped, so that no order of two parts
 * can be contradicted.
 */
import type { Report } from "../report.ts";
import { type DemoCredentials, openShop, type SendRequest, type Shop } from "../shop.ts";
import { cartChanges, mergeSharedCarts } from "./cart-changes.ts";
import { raceForCode } from "./code-operations.ts";
import { judgeHistory } from "./judge.ts";
import { findMissingVersions } from "./missing-versions.ts";
import {
  beginOrder,
  changeOrderHold,
  placeSharedOrder,
  readOrderOverGraphql,
  readOrderOverRest,
  type SharedOrder,
} from "./order-operations.ts";
import {
  createHistoryClients,
  type HistoryClient,
  HistoryRecorder,
  pickRandom,
  type RecordedRequest,
} from "./recorder.ts";
import {
  createCartOperation,
  readCartOperation,
  readTwoCartsOperation,
  type SharedCart,
} from "./shared-carts.ts";
import {
  adjustmentsMax,
  adjustStockOperation,
  listOtherVariants,
  readMovements,
  readStock,
  type SharedStock,
} from "./stock-operations.ts";

export interface SerializabilityPlan {
  readonly engine: Report["engine"];
  /** The ports of the processes. */
  readonly ports: readonly number[];
  readonly ask: SendRequest;
  readonly access: DemoCredentials;
  readonly clients: number;
  /** The number of operations after which the history is judged. */
  readonly partSize: number;
  readonly isOver: (counts: { readonly operations: number }) => boolean;
  readonly onStep?: (text: string) => void;
  /** The parts of the requests whose client stops waiting, and whose connection is cut; 0.5 % each by default. */
  readonly faults?: { readonly impatience: number; readonly cuts: number };
  /** `orders` for changes and reads of orders only. */
  readonly load?: "all" | "orders";
  /** The token with which pairs of carts are read; by default the storefront's. */
  readonly readToken?: "storefront" | "analyst";
}

/** The objects that the clients share at the same time. */
const sharedCarts = 6;
const sharedOrders = 3;
const sharedStocks = 4;
const operationsPerCart = 80;
/** The number of checkouts that are submitted at once with one code, and of codes in each part. */
const submitsPerCode = 6;
const codesPerPart = 2;
/** The parts of the requests whose client stops waiting, and whose connection is cut. */
const usualFaults = { impatience: 0.005, cuts: 0.005 };

interface Load extends SerializabilityPlan {
  readonly shop: Shop;
  readonly variantIds: readonly string[];
  readonly recorder: HistoryRecorder;
  readonly historyClients: readonly HistoryClient[];
  readonly counts: {
    operations: number;
    changes: number;
    "unknown outcomes": number;
    refused: number;
    parts: number;
    carts: number;
    orders: number;
    codes: number;
    dependencies: number;
  };
}

/** A part of the history: the objects that exist now, and the number of operations that were sent. */
interface Part {
  readonly carts: SharedCart[];
  readonly orders: readonly SharedOrder[];
  readonly stocks: readonly SharedStock[];
  sent: number;
  reasons: number;
}

const variantsOfCarts = 11;

export async function runSerializability(plan: SerializabilityPlan): Promise<Report> {
  const shop = await openShop(plan.ask, plan.access, variantsOfCarts);
  const load: Load = {
    ...plan,
    shop,
    variantIds: await listOtherVariants(plan.ask, shop),
    recorder: new HistoryRecorder(plan.faults ?? usualFaults),
    historyClients: createHistoryClients(plan.ports, plan.clients + submitsPerCode),
    counts: {
      operations: 0,
      changes: 0,
      "unknown outcomes": 0,
      refused: 0,
      parts: 0,
      carts: 0,
      orders: 0,
      codes: 0,
      dependencies: 0,
    },
  };
  const violations: string[] = [];
  try {
    while (!plan.isOver(load.counts) && violations.length === 0) violations.push(...(await runPart(load)));
  } finally {
    for (const client of load.historyClients) client.cut();
  }
  return {
    figure: "serializability",
    engine: plan.engine,
    counts: load.counts,
    violations: [...load.recorder.violations, ...violations],
  };
}

/** Lets the clients work on new objects, and judges their operations. Returns the anomalies. */
async function runPart(load: Load): Promise<string[]> {
  const { recorder, counts, historyClients, clients, partSize, shop } = load;
  const workers = historyClients.slice(0, clients);
  const [first] = workers;
  if (first === undefined) throw new Error("The test needs a client.");
  const part = await beginPart(load, first);
  const work = async (client: HistoryClient): Promise<void> => {
    for (
      ;
      part.sent < partSize && !load.isOver({ operations: counts.operations + part.sent });
      part.sent += 1
    )
      await operate(load, part, client);
  };
  const raceCodes = async (): Promise<void> => {
    for (let code = 0; code < (load.load === "orders" ? 0 : codesPerPart); code += 1) {
      await raceForCode(recorder, shop, historyClients.slice(clients));
      counts.codes += 1;
    }
  };
  await Promise.all([...workers.map(work), raceCodes()]);
  for (const request of readsOfAll(part)) await recorder.perform(first, request);
  const operations = await recorder.takeOperations();
  const { anomalies, edges } = judgeHistory(operations, { order: "realtime" });
  counts.parts += 1;
  counts.operations += operations.length;
  counts.dependencies += edges;
  for (const { outcome, steps } of operations) {
    if (outcome === "done" && steps.some(({ kind }) => kind === "write" || kind === "append"))
      counts.changes += 1;
    if (outcome === "unknown") counts["unknown outcomes"] += 1;
    if (outcome === "failed") counts.refused += 1;
  }
  load.onStep?.(`${load.engine}: ${counts.operations} operations, ${anomalies.length} anomalies`);
  return [...anomalies.map(({ name, text }) => `${name}: ${text}`), ...findMissingVersions(operations)];
}

async function beginPart(load: Load, client: HistoryClient): Promise<Part> {
  const { shop, recorder, counts, variantIds } = load;
  const carts: SharedCart[] = [];
  while (carts.length < sharedCarts) await replaceCart(load, client, { carts, slot: carts.length });
  const orders: SharedOrder[] = [];
  while (orders.length < sharedOrders) {
    const id = await placeSharedOrder(load.ask, shop);
    const order = await beginOrder(recorder, client, { shop, id });
    if (order.seen > 0) orders.push(order);
    counts.orders += 1;
  }
  const since = new Date(Date.now() - sinceMs).toISOString();
  const notePrefix = `${crypto.randomUUID().slice(0, 8)}-`;
  const shift = counts.parts * sharedStocks;
  const stocks: SharedStock[] = [];
  for (let index = 0; index < sharedStocks; index += 1) {
    const variantId = variantIds[(shift + index) % variantIds.length] ?? "";
    const stock = { variantId, shop, since, notePrefix, sent: 0 };
    // The history of a stock begins with the values of the first read, so this read is repeated until the client
    // gets its answer.
    while ((await recorder.perform(client, readStock(stock, true))) === undefined);
    stocks.push(stock);
  }
  return { carts, orders, stocks, sent: 0, reasons: 0 };
}

/** Movements are read from this number of milliseconds before the part, because clocks may differ. */
const sinceMs = 2_000;

/** Creates a cart in place of another one, which is read a last time. */
async function replaceCart(
  { shop, recorder, counts }: Load,
  client: HistoryClient,
  { carts, slot }: { readonly carts: SharedCart[]; readonly slot: number },
): Promise<void> {
  const old = carts[slot];
  // Other clients no longer replace the cart, but may still use it.
  if (old !== undefined) old.sent = -Infinity;
  await recorder.perform(
    client,
    createCartOperation(shop, (cart) => {
      carts[slot] = cart;
      counts.carts += 1;
    }),
  );
  if (old !== undefined && carts[slot] === old) old.sent = operationsPerCart;
  else if (old !== undefined) await recorder.perform(client, readCartOperation(old));
}

/** Sends one operation of a client. */
async function operate(load: Load, part: Part, client: HistoryClient): Promise<void> {
  const areOrdersOnly = load.load === "orders";
  const slot = Math.floor(Math.random() * part.carts.length);
  const cart = part.carts[slot];
  if (cart === undefined) return;
  if (cart.sent >= operationsPerCart) return replaceCart(load, client, { carts: part.carts, slot });
  if (!areOrdersOnly && Math.random() < mergesShare) return merge(load, client, cart);
  const request = pickRandom(areOrdersOnly ? orderOperations : allOperations)?.(load, part, cart);
  if (request !== undefined) await load.recorder.perform(client, request);
}

const mergesShare = 0.005;

/** Creates a cart and merges it; others read both carts meanwhile. */
async function merge(
  { shop, recorder, readToken }: Load,
  client: HistoryClient,
  target: SharedCart,
): Promise<void> {
  const sources: SharedCart[] = [];
  await recorder.perform(
    client,
    createCartOperation(shop, (cart) => void sources.push(cart)),
  );
  const [source] = sources;
  if (source === undefined) return;
  const pair = [source, target] as const;
  await Promise.all([
    recorder.perform(client, mergeSharedCarts(target, source)),
    recorder.perform({ ...client, number: -client.number - 1 }, readTwoCartsOperation(pair, readToken)),
  ]);
  await recorder.perform(client, readTwoCartsOperation(pair, readToken));
}

type MakeOperation = (load: Load, part: Part, cart: SharedCart) => RecordedRequest | undefined;

const readCart: MakeOperation = (_load, _part, cart) => readCartOperation(cart);

const readTwoCarts: MakeOperation = ({ readToken }, { carts }, cart) => {
  const other = pickRandom(carts);
  return other === undefined || other === cart ? undefined : readTwoCartsOperation([cart, other], readToken);
};

const changeCart: MakeOperation = (_load, _part, cart) => {
  cart.sent += 1;
  return pickRandom(cartChanges)?.(cart);
};

const withOrder =
  (make: (order: SharedOrder, part: Part) => RecordedRequest): MakeOperation =>
  (_load, part) => {
    const order = pickRandom(part.orders);
    return order === undefined ? undefined : make(order, part);
  };

const changeOrder = withOrder((order, part) => {
  part.reasons += 1;
  return changeOrderHold(order, Math.random() < 0.5 ? `reason ${part.reasons}` : undefined);
});

const withStock =
  (make: (stock: SharedStock) => RecordedRequest): MakeOperation =>
  (_load, { stocks }) => {
    const stock = pickRandom(stocks);
    return stock === undefined ? undefined : make(stock);
  };

const adjust = withStock((stock) =>
  stock.sent < adjustmentsMax ? adjustStockOperation(stock) : readStock(stock),
);

/** The operations; an operation that is listed several times is drawn more often. */
const allOperations: readonly MakeOperation[] = [
  ...Array.from({ length: 9 }, () => readCart),
  readTwoCarts,
  ...Array.from({ length: 4 }, () => changeCart),
  ...Array.from({ length: 2 }, () => withOrder(readOrderOverRest)),
  withOrder(readOrderOverGraphql),
  changeOrder,
  withStock((stock) => readStock(stock)),
  withStock(readMovements),
  adjust,
];

const orderOperations: readonly MakeOperation[] = [changeOrder, changeOrder, withOrder(readOrderOverRest)];

/** The reads after which a part of the history ends. */
const readsOfAll = ({ carts, orders, stocks }: Part): RecordedRequest[] => [
  ...carts.map(readCartOperation),
  ...orders.flatMap((order) => [readOrderOverGraphql(order), readOrderOverRest(order)]),
  ...stocks.flatMap((stock) => [readStock(stock), readMovements(stock)]),
];
