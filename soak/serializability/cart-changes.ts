/** The changes of carts in a history, over GraphQL and over REST, with and without an expected version. */
import {
  type CartState,
  createAddressWrite,
  createCartWrite,
  createRestWrite,
  type HttpRequest,
} from "../shop.ts";
import { type HistoryStep, unwritten } from "./history.ts";
import {
  pickRandom,
  type RecordedRequest,
  toHiddenWrite,
  toVersionedRead,
  toVersionedWrite,
  toVersionSteps,
} from "./recorder.ts";
import {
  cartCodeOf,
  cartLinesOf,
  cartQuantityOf,
  cartResultOf,
  cartStatusOf,
  cartVersionOf,
  noteSeenCart,
  noValue,
  removableVariantsOf,
  type SharedCart,
  toCartReads,
} from "./shared-carts.ts";

/** The difference between two quantities that are set. Sums of single units seldom equal one of them. */
const quantityStep = 10;

interface CartChange {
  readonly name: string;
  readonly request: HttpRequest;
  readonly expectedVersion: number | null;
  /** The writes with values that the client knows before the answer. */
  readonly intended?: readonly HistoryStep[];
  /** Returns the writes of the change, which gave the cart this version. */
  readonly toWrites: (version: number, cart: CartState | undefined) => readonly HistoryStep[];
}

/**
 * Records a change of a cart. An answer has the changed cart, or only its version. A change with an expected
 * version that changed nothing is answered with this version.
 */
function changeOperation(cart: SharedCart, change: CartChange): RecordedRequest {
  const { name, request, expectedVersion, toWrites, intended = [] } = change;
  const object = cartVersionOf(cart.id);
  return {
    name,
    request,
    intended: [toHiddenWrite(object), ...intended],
    toSteps: (data) => {
      const changed = "cartVersion" in data ? undefined : cartResultOf(data);
      const version = changed?.version ?? (data["cartVersion"] as number);
      if (changed !== undefined) noteSeenCart(cart, changed);
      const reads = changed === undefined ? [] : toCartReads(cart, changed);
      if (version === expectedVersion) return [toVersionedRead(object, version, version), ...reads];
      const seen = expectedVersion ?? version - 1;
      return [...toVersionSteps(object, { version, seen }), ...toWrites(version, changed), ...reads];
    },
  };
}

const graphRequest = (
  cart: SharedCart,
  mutation: string,
  input: { readonly expectedVersion: number | null } & Readonly<Record<string, unknown>>,
): HttpRequest => createCartWrite(cart.shop, { mutation, cartId: cart.id, input }).request;

/** Returns the expected version of half of the changes; null for the other half. */
const someVersion = ({ seen }: SharedCart): number | null => (Math.random() < 0.5 ? seen.version : null);

/** Adds a variant that no other operation adds: a new line is appended. */
export function appendLine(cart: SharedCart): RecordedRequest | undefined {
  const variantId = cart.unadded.shift();
  if (variantId === undefined) return undefined;
  const [expectedVersion, quantity] = [null, (cart.quantity += quantityStep)];
  const append: HistoryStep = { kind: "append", object: cartLinesOf(cart.id), value: variantId };
  const register = cartQuantityOf(cart.id, variantId);
  return changeOperation(cart, {
    name: "append a line",
    request: graphRequest(cart, "cartLinesAdd", { lines: [{ variantId, quantity }], expectedVersion }),
    expectedVersion,
    intended: [append, { kind: "write", object: register, value: String(quantity) }],
    toWrites: (version) => [append, toVersionedWrite(register, quantity, version)],
  });
}

/** Returns the write of the quantity that a variant has in an answer. */
function writeOfQuantity(cart: SharedCart, variantId: string): CartChange["toWrites"] {
  return (version, changed) => {
    const quantity = changed?.lines.find((line) => line.variantId === variantId)?.quantity;
    return [toVersionedWrite(cartQuantityOf(cart.id, variantId), quantity ?? noValue, version)];
  };
}

/** Adds units of a removable variant; the quantity is the sum of the units. */
function addUnits(cart: SharedCart): RecordedRequest | undefined {
  const variantId = pickRandom(removableVariantsOf(cart.shop)) ?? "";
  const expectedVersion = someVersion(cart);
  return changeOperation(cart, {
    name: "add units",
    request: graphRequest(cart, "cartLinesAdd", { lines: [{ variantId, quantity: 1 }], expectedVersion }),
    expectedVersion,
    intended: [toHiddenWrite(cartQuantityOf(cart.id, variantId))],
    toWrites: writeOfQuantity(cart, variantId),
  });
}

function setQuantity(cart: SharedCart): RecordedRequest | undefined {
  const line = pickRandom(cart.seen.lines);
  if (line === undefined) return undefined;
  const [expectedVersion, quantity] = [someVersion(cart), (cart.quantity += quantityStep)];
  const register = cartQuantityOf(cart.id, line.variantId);
  const lines = [{ lineId: line.id, quantity }];
  return changeOperation(cart, {
    name: "set a quantity",
    request: graphRequest(cart, "cartLinesUpdate", { lines, expectedVersion }),
    expectedVersion,
    intended: [{ kind: "write", object: register, value: String(quantity) }],
    toWrites: (version) => [toVersionedWrite(register, quantity, version)],
  });
}

function removeLine(cart: SharedCart): RecordedRequest | undefined {
  const removable = removableVariantsOf(cart.shop);
  const line = pickRandom(cart.seen.lines.filter(({ variantId }) => removable.includes(variantId)));
  if (line === undefined) return undefined;
  const expectedVersion = someVersion(cart);
  return changeOperation(cart, {
    name: "remove a line",
    request: graphRequest(cart, "cartLinesRemove", { lineIds: [line.id], expectedVersion }),
    expectedVersion,
    intended: [toHiddenWrite(cartQuantityOf(cart.id, line.variantId))],
    toWrites: (version) => [toVersionedWrite(cartQuantityOf(cart.id, line.variantId), noValue, version)],
  });
}

/** Applies or removes a promotion code over REST. */
function changeCode(cart: SharedCart): RecordedRequest | undefined {
  const expectedVersion = cart.seen.version;
  const code = Math.random() < 0.7 ? pickRandom(cart.shop.codes) : undefined;
  const body = code === undefined ? { expectedVersion } : { code, expectedVersion };
  const method = code === undefined ? "DELETE" : "PUT";
  const write = createRestWrite(cart.shop, { method, cartId: cart.id, path: "/promotion", body });
  return changeOperation(cart, {
    name: code === undefined ? "remove the promotion code" : "apply a promotion code",
    request: write.request,
    expectedVersion,
    intended: [toHiddenWrite(cartCodeOf(cart.id))],
    toWrites: (version) => [toVersionedWrite(cartCodeOf(cart.id), code ?? noValue, version)],
  });
}

/** Sets the address over REST. */
function setAddress(cart: SharedCart): RecordedRequest | undefined {
  const expectedVersion = cart.seen.version;
  const { request } = createAddressWrite(cart.shop, cart.id, { expectedVersion });
  return changeOperation(cart, { name: "set the address", request, expectedVersion, toWrites: () => [] });
}

function selectDelivery(cart: SharedCart): RecordedRequest | undefined {
  const optionId = pickRandom(cart.seen.delivery?.options ?? [])?.id ?? null;
  const expectedVersion = cart.seen.version;
  const request = graphRequest(cart, "cartDeliveryOptionSelect", { optionId, expectedVersion });
  return changeOperation(cart, {
    name: "select a delivery option",
    request,
    expectedVersion,
    toWrites: () => [],
  });
}

/** Merges a cart, which no other operation changes, into a shared cart: one transaction changes both. */
export function mergeSharedCarts(cart: SharedCart, source: SharedCart): RecordedRequest {
  const variantId = source.seen.lines[0]?.variantId ?? unwritten;
  const expectedVersion = null;
  const statusSteps: HistoryStep[] = [
    { kind: "read", object: cartStatusOf(source.id), value: "active" },
    { kind: "write", object: cartStatusOf(source.id), value: "merged" },
  ];
  return changeOperation(cart, {
    name: "merge a cart",
    request: graphRequest(cart, "cartMerge", { sourceCartId: source.id, expectedVersion }),
    expectedVersion,
    intended: [...statusSteps.slice(1), toHiddenWrite(cartQuantityOf(cart.id, variantId))],
    toWrites: (version, changed) => [...statusSteps, ...writeOfQuantity(cart, variantId)(version, changed)],
  });
}

/** The changes; a change that is listed several times is drawn more often. */
export const cartChanges: readonly ((cart: SharedCart) => RecordedRequest | undefined)[] = [
  appendLine,
  appendLine,
  addUnits,
  setQuantity,
  setQuantity,
  removeLine,
  changeCode,
  setAddress,
  selectDelivery,
];
