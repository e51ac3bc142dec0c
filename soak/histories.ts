/**
 * Tests guarantee 6. Several writers change the same carts as fast as possible; half of the requests have an
 * expected version. A lost update would be visible as a version that occurs twice or is missing, or as a
 * final state that differs from a replay of all changes.
 */
import type { Report } from "./report.ts";
import {
  createAddressWrite,
  type SendRequest,
  type CartState,
  createCartWrite,
  requireData,
  openCart,
  parseAnswer,
  createRestWrite,
  type Shop,
  type ParsedAnswer,
  type Write,
} from "./shop.ts";

export interface HistoriesPlan {
  readonly engine: Report["engine"];
  readonly writers: number;
  readonly carts: number;
  /** Called before each operation; the writers end if it returns true. */
  readonly isOver: (operations: number) => boolean;
  readonly onStep?: (text: string) => void;
}

/** The effect of an operation on a cart, for the replay. */
export type CartEffect =
  | {
      readonly kind: "add" | "update";
      readonly quantities: readonly (readonly [variantId: string, quantity: number])[];
    }
  | { readonly kind: "remove"; readonly variantIds: readonly string[] }
  | { readonly kind: "code"; readonly code: string | null }
  | { readonly kind: "address" | "delivery" };

/** An operation that the service answered with status 200. */
export interface CartChange {
  readonly cartId: string;
  readonly requestId: string;
  readonly version: number;
  /** The expected version in the request; null if the request has none. */
  readonly expectedVersion: number | null;
  readonly effect: CartEffect;
  /** The cart in the answer; null if the answer has no cart. */
  readonly cart: CartState | null;
  /**
   * The promotion code in the answer; null if the cart has no code; undefined if the answer has no such
   * field.
   */
  readonly code: string | null | undefined;
}

export interface CartHistory {
  readonly opened: readonly CartState[];
  readonly changes: readonly CartChange[];
  readonly report: Report;
}

interface Run {
  readonly ask: SendRequest;
  readonly shop: Shop;
  /** The newest known state of each cart, by cart id. */
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

export async function runHistories(ask: SendRequest, shop: Shop, plan: HistoriesPlan): Promise<CartHistory> {
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
  const answer = parseAnswer(await run.ask(operation.write.request));
  if (answer.code !== undefined) return countRefusal(run, operation, answer);
  const change = toChange(cart.id, operation, answer);
  run.counts.changed += 1;
  run.changes.push(change);
  const known = run.seen.get(cart.id);
  if (change.cart !== null && (known === undefined || known.version < change.cart.version))
    run.seen.set(cart.id, change.cart);
}

/** The error codes that are correct answers to concurrent writers. */
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

function toChange(cartId: string, { effect, expectedVersion }: Operation, answer: ParsedAnswer): CartChange {
  const { requestId } = answer;
  const data = requireData(answer);
  // In REST, `data` is the result; in GraphQL, `data` has a field with the name of the mutation.
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
  const input = { run, cart, line, expectedVersion: Math.random() < 0.5 ? cart.version : null };
  return (line === undefined ? add : pick(operationMakers))(input);
}

interface OperationInput {
  readonly run: Run;
  readonly cart: CartState;
  /** A random line of the cart; undefined if the cart is empty. */
  readonly line: CartState["lines"][number] | undefined;
  readonly expectedVersion: number | null;
}

type MakeOperation = (input: OperationInput) => Operation | Promise<Operation>;

const add: MakeOperation = (input) => {
  const [variantId, quantity] = [pick(input.run.shop.variantIds), randomInteger(1, 3)];
  return graphOperation(input, "cartLinesAdd", {
    input: { lines: [{ variantId, quantity }] },
    effect: { kind: "add", quantities: [[variantId, quantity]] },
  });
};

const update: MakeOperation = (input) => {
  const { id = "", variantId = "" } = input.line ?? {};
  const quantity = randomInteger(1, 6);
  const effect: CartEffect = { kind: "update", quantities: [[variantId, quantity]] };
  return graphOperation(input, "cartLinesUpdate", { input: { lines: [{ lineId: id, quantity }] }, effect });
};

const remove: MakeOperation = (input) => {
  const { id = "", variantId = "" } = input.line ?? {};
  return graphOperation(input, "cartLinesRemove", {
    input: { lineIds: [id] },
    effect: { kind: "remove", variantIds: [variantId] },
  });
};

const selectDelivery: MakeOperation = (input) => {
  const options = input.cart.delivery?.options ?? [];
  const optionId = options.length === 0 ? null : pick(options).id;
  return graphOperation(input, "cartDeliveryOptionSelect", {
    input: { optionId },
    effect: { kind: "delivery" },
  });
};

const merge: MakeOperation = async (input) => {
  const { run } = input;
  run.counts.merges += 1;
  const source = await openCart(run.ask, run.shop);
  const quantities = source.lines.map(({ variantId, quantity }) => [variantId, quantity] as const);
  return graphOperation(input, "cartMerge", {
    input: { sourceCartId: source.id },
    effect: { kind: "add", quantities },
  });
};

const setAddress: MakeOperation = ({ run, cart, expectedVersion }) => ({
  write: createAddressWrite(run.shop, cart.id, expectedVersion === null ? {} : { expectedVersion }),
  effect: { kind: "address" },
  expectedVersion,
});

const applyCode: MakeOperation = ({ run, cart, expectedVersion }) => {
  const code = pick(run.shop.codes);
  const body = { code, ...(expectedVersion === null ? {} : { expectedVersion }) };
  const write = createRestWrite(run.shop, { method: "PUT", cartId: cart.id, path: "/promotion", body });
  return { write, effect: { kind: "code", code }, expectedVersion };
};

/** Creates the removal of the promotion code, which requires an expected version. */
const removeCode: MakeOperation = ({ run, cart }) => {
  const write = createRestWrite(run.shop, {
    method: "DELETE",
    cartId: cart.id,
    path: "/promotion",
    body: { expectedVersion: cart.version },
  });
  return { write, effect: { kind: "code", code: null }, expectedVersion: cart.version };
};

/**
 * The operations; an operation that is listed several times is drawn more often. Adding is more frequent than
 * removing.
 */
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
    write: createCartWrite(run.shop, { mutation, cartId: cart.id, input: { ...input, ...expected } }),
    effect,
    expectedVersion,
  };
}

const randomInteger = (from: number, to: number): number =>
  from + Math.floor(Math.random() * (to - from + 1));

function pick<Item>(items: readonly Item[]): Item {
  const item = items[randomInteger(0, items.length - 1)];
  if (item === undefined) throw new Error("The list is empty.");
  return item;
}
