/**
 * Figure 6. Several writers change the same carts as fast as they can, half of the time with the version that
 * they have seen. Who loses an update gives a version twice, leaves one out, or ends where a replay of the
 * history does not.
 */
import type { Report } from "./report.ts";
import {
  addressWrite,
  type Ask,
  type CartState,
  cartWrite,
  requireData,
  openCart,
  readAnswer,
  restWrite,
  type Shop,
  type ParsedAnswer,
  type Write,
} from "./shop.ts";

export interface HistoriesPlan {
  readonly engine: Report["engine"];
  readonly writers: number;
  readonly carts: number;
  /** Asked before each operation. */
  readonly isOver: (operations: number) => boolean;
  readonly onStep?: (text: string) => void;
}

/** What an operation does to a cart, for the replay. */
export type CartEffect =
  | {
      readonly kind: "add" | "update";
      readonly quantities: readonly (readonly [variantId: string, quantity: number])[];
    }
  | { readonly kind: "remove"; readonly variantIds: readonly string[] }
  | { readonly kind: "code"; readonly code: string | null }
  | { readonly kind: "address" | "delivery" };

/** An operation that was answered with 200. */
export interface CartChange {
  readonly cartId: string;
  readonly requestId: string;
  readonly version: number;
  /** What the caller said it had seen. */
  readonly expectedVersion: number | null;
  readonly effect: CartEffect;
  /** Where the answer shows the cart. */
  readonly cart: CartState | null;
  /** Where the answer shows the code. */
  readonly code: string | null | undefined;
}

export interface CartHistory {
  readonly opened: readonly CartState[];
  readonly changes: readonly CartChange[];
  readonly report: Report;
}

interface Run {
  readonly ask: Ask;
  readonly shop: Shop;
  /** The newest that anybody has been told of each cart. */
  readonly seen: Map<string, CartState>;
  readonly changes: CartChange[];
  readonly violations: string[];
  readonly counts: {
    operations: number;
    changed: number;
    conflicts: number;
    refused: number;
    merges: number;
  };
}

export async function runHistories(ask: Ask, shop: Shop, plan: HistoriesPlan): Promise<CartHistory> {
  const opened: CartState[] = [];
  for (let cart = 0; cart < plan.carts; cart += 1) opened.push(await openCart(ask, shop));
  const run: Run = {
    ask,
    shop,
    seen: new Map(opened.map((cart) => [cart.id, cart])),
    changes: [],
    violations: [],
    counts: { operations: 0, changed: 0, conflicts: 0, refused: 0, merges: 0 },
  };
  await Promise.all(
    Array.from({ length: plan.writers }, async () => {
      while (!plan.isOver(run.counts.operations)) {
        run.counts.operations += 1;
        if (run.counts.operations % 1000 === 0)
          plan.onStep?.(`${plan.engine}: ${run.counts.operations} operations`);
        await operate(run, pick([...run.seen.values()]));
      }
    }),
  );
  return {
    opened,
    changes: run.changes,
    report: { figure: "histories", engine: plan.engine, counts: run.counts, violations: run.violations },
  };
}

interface Operation {
  readonly write: Write;
  readonly effect: CartEffect;
  readonly expectedVersion: number | null;
}

async function operate(run: Run, cart: CartState): Promise<void> {
  const operation = await nextOperation(run, cart);
  const told = readAnswer(await run.ask(operation.write.asked));
  if (told.code !== undefined) return countRefusal(run, operation, told);
  const change = toChange(cart.id, operation, told);
  run.counts.changed += 1;
  run.changes.push(change);
  const known = run.seen.get(cart.id);
  if (change.cart !== null && (known === undefined || known.version < change.cart.version))
    run.seen.set(cart.id, change.cart);
}

/** What may be refused to writers that do not wait for each other. */
const refusals = new Set([
  "cart_version_conflict",
  "invalid_field",
  "promotion_not_present",
  "cart_empty",
  "promotion_not_applicable",
  "invalid_state",
]);

function countRefusal(run: Run, { effect }: Operation, { status, code = "", text }: ParsedAnswer): void {
  if (code === "cart_version_conflict") run.counts.conflicts += 1;
  else run.counts.refused += 1;
  if (!refusals.has(code))
    run.violations.push(`${effect.kind} was answered with ${status} ${code}: ${text.slice(0, 300)}`);
}

function toChange(cartId: string, { effect, expectedVersion }: Operation, told: ParsedAnswer): CartChange {
  const { requestId } = told;
  const data = requireData(told);
  // REST gives the thing itself; GraphQL gives it under the mutation's name.
  if ("cartVersion" in data) {
    const { cartVersion, promotion } = data as {
      readonly cartVersion: number;
      readonly promotion?: { readonly code: string } | null;
    };
    const code = effect.kind === "code" ? (promotion?.code ?? null) : undefined;
    return { cartId, requestId, version: cartVersion, expectedVersion, effect, cart: null, code };
  }
  const [cart] = Object.values(data) as [CartState];
  return {
    cartId,
    requestId,
    version: cart.version,
    expectedVersion,
    effect,
    cart,
    code: cart.promotion.promotion?.code ?? null,
  };
}

async function nextOperation(run: Run, cart: CartState): Promise<Operation> {
  const line = cart.lines.length === 0 ? undefined : pick(cart.lines);
  const making = { run, cart, line, expectedVersion: Math.random() < 0.5 ? cart.version : null };
  return (line === undefined ? add : pick(operationMakers))(making);
}

interface OperationInput {
  readonly run: Run;
  readonly cart: CartState;
  /** One of it; undefined: it is empty. */
  readonly line: CartState["lines"][number] | undefined;
  readonly expectedVersion: number | null;
}

type MakeOperation = (making: OperationInput) => Operation | Promise<Operation>;

const add: MakeOperation = (making) => {
  const [variantId, quantity] = [pick(making.run.shop.variantIds), randomInteger(1, 3)];
  return graphOperation(making, "cartLinesAdd", {
    input: { lines: [{ variantId, quantity }] },
    effect: { kind: "add", quantities: [[variantId, quantity]] },
  });
};

const update: MakeOperation = (making) => {
  const { id = "", variantId = "" } = making.line ?? {};
  const quantity = randomInteger(1, 6);
  const effect: CartEffect = { kind: "update", quantities: [[variantId, quantity]] };
  return graphOperation(making, "cartLinesUpdate", { input: { lines: [{ lineId: id, quantity }] }, effect });
};

const remove: MakeOperation = (making) => {
  const { id = "", variantId = "" } = making.line ?? {};
  return graphOperation(making, "cartLinesRemove", {
    input: { lineIds: [id] },
    effect: { kind: "remove", variantIds: [variantId] },
  });
};

const selectDelivery: MakeOperation = (making) => {
  const options = making.cart.delivery?.options ?? [];
  const optionId = options.length === 0 ? null : pick(options).id;
  return graphOperation(making, "cartDeliveryOptionSelect", {
    input: { optionId },
    effect: { kind: "delivery" },
  });
};

const merge: MakeOperation = async (making) => {
  const { run } = making;
  run.counts.merges += 1;
  const source = await openCart(run.ask, run.shop);
  const quantities = source.lines.map(({ variantId, quantity }) => [variantId, quantity] as const);
  return graphOperation(making, "cartMerge", {
    input: { sourceCartId: source.id },
    effect: { kind: "add", quantities },
  });
};

const setAddress: MakeOperation = ({ run, cart, expectedVersion }) => ({
  write: addressWrite(run.shop, cart.id, expectedVersion === null ? {} : { expectedVersion }),
  effect: { kind: "address" },
  expectedVersion,
});

const applyCode: MakeOperation = ({ run, cart, expectedVersion }) => {
  const code = pick(run.shop.codes);
  const body = { code, ...(expectedVersion === null ? {} : { expectedVersion }) };
  const write = restWrite(run.shop, { method: "PUT", cartId: cart.id, path: "/promotion", body });
  return { write, effect: { kind: "code", code }, expectedVersion };
};

/** The contract asks for the version here. */
const removeCode: MakeOperation = ({ run, cart }) => {
  const write = restWrite(run.shop, {
    method: "DELETE",
    cartId: cart.id,
    path: "/promotion",
    body: { expectedVersion: cart.version },
  });
  return { write, effect: { kind: "code", code: null }, expectedVersion: cart.version };
};

/** Adding more often than taking away, so that there is something to change. */
const operationMakers = [
  add,
  add,
  add,
  update,
  update,
  remove,
  applyCode,
  applyCode,
  removeCode,
  setAddress,
  selectDelivery,
  merge,
];

function graphOperation(
  { run, cart, expectedVersion }: OperationInput,
  mutation: string,
  { input, effect }: { readonly input: object; readonly effect: CartEffect },
): Operation {
  const expected = expectedVersion === null ? {} : { expectedVersion };
  return {
    write: cartWrite(run.shop, { mutation, cartId: cart.id, input: { ...input, ...expected } }),
    effect,
    expectedVersion,
  };
}

const randomInteger = (from: number, to: number): number =>
  from + Math.floor(Math.random() * (to - from + 1));

function pick<Item>(items: readonly Item[]): Item {
  const item = items[randomInteger(0, items.length - 1)];
  if (item === undefined) throw new Error("There is nothing to choose from.");
  return item;
}
