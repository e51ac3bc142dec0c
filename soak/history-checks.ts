/**
 * Compares the histories of carts with the events in the database, which name the request of each change, and
 * compares the stored carts with a replay of the changes.
 */
import type { Database } from "#database/connect.ts";
import type { CartChange, CartEffect, CartHistory } from "./histories.ts";
import type { Report } from "./report.ts";
import type { CartState } from "./shop.ts";

/** Returns the report of the history, with the violations found in the database. */
export async function checkHistories(
  db: Database,
  { opened, changes, report }: CartHistory,
): Promise<Report> {
  const violations = [...report.violations];
  const byCart = Map.groupBy(changes, ({ cartId }) => cartId);
  for (const cart of opened) violations.push(...(await cartFaults(db, cart, byCart.get(cart.id) ?? [])));
  return { ...report, violations };
}

async function cartFaults(
  db: Database,
  opened: CartState,
  answered: readonly CartChange[],
): Promise<string[]> {
  const cartId = opened.id;
  const cart = await db
    .selectFrom("cart")
    .select("version")
    .where("id", "=", cartId)
    .executeTakeFirstOrThrow();
  const events = await db
    .selectFrom("event")
    .select(["subjectVersion", "thin"])
    .where("subjectId", "=", cartId)
    .execute();
  const written = events.map(({ subjectVersion, thin }) => ({
    version: subjectVersion,
    requestId: causeOf(thin),
  }));
  const versions = [...new Set(written.map(({ version }) => version))].toSorted((a, b) => a - b);
  const gapless = Array.from({ length: cart.version }, (_, index) => index + 1);
  const state = await storedState(db, cartId);
  return [
    ...(JSON.stringify(versions) === JSON.stringify(gapless)
      ? []
      : [`Cart ${cartId} at version ${cart.version} has events for ${versions.length} versions.`]),
    ...repeatedVersionFaults(cartId, written),
    ...answerFaults(written, answered),
    ...replayFaults(opened, { written, answered, final: { version: cart.version, state } }),
  ];
}

const causeOf = (thin: string): string =>
  (JSON.parse(thin) as { cause: { requestId: string } }).cause.requestId;

interface StoredVersion {
  readonly version: number;
  readonly requestId: string;
}

function repeatedVersionFaults(cartId: string, written: readonly StoredVersion[]): string[] {
  return [...Map.groupBy(written, ({ version }) => version)].flatMap(([version, group]) => {
    const requests = new Set(group.map(({ requestId }) => requestId));
    return requests.size === 1
      ? []
      : [`Version ${version} of cart ${cartId} was given to ${requests.size} changes.`];
  });
}

/**
 * Checks that each acknowledged change is stored with the version of its answer, and that no other change is
 * stored.
 */
function answerFaults(written: readonly StoredVersion[], answered: readonly CartChange[]): string[] {
  const faults: string[] = [];
  const versionOf = new Map(written.map(({ requestId, version }) => [requestId, version]));
  for (const { requestId, version, expectedVersion, effect, cartId } of answered) {
    const stored = versionOf.get(requestId);
    // A request that did not change the cart has no event.
    if (stored === undefined) continue;
    if (stored !== version)
      faults.push(
        `${effect.kind} of cart ${cartId} was answered with version ${version}, but stored with version ${stored}.`,
      );
    if (expectedVersion !== null && version !== expectedVersion + 1)
      faults.push(
        `${effect.kind} of cart ${cartId} expected version ${expectedVersion} and created version ${version}.`,
      );
  }
  const known = new Set(answered.map(({ requestId }) => requestId));
  const unknown = written.filter(({ requestId, version }) => version > 1 && !known.has(requestId));
  return [...faults, ...unknown.map(({ version }) => `Version ${version} is in no answer.`)];
}

interface State {
  readonly quantities: ReadonlyMap<string, number>;
  readonly code: string | null;
}

interface Replay {
  readonly written: readonly StoredVersion[];
  readonly answered: readonly CartChange[];
  readonly final: { readonly version: number; readonly state: State };
}

/**
 * Replays the changes in the order of their versions. After each change, the replayed cart must equal the
 * cart in the answer; at the end, it must equal the stored cart.
 */
function replayFaults(opened: CartState, { written, answered, final }: Replay): string[] {
  const states = statesOf(opened, { written, answered, final });
  const faults = answered.flatMap(({ version, cart, code, effect }) => {
    const then = states[version - 1];
    if (then === undefined)
      return [`Version ${version} of cart ${opened.id} (${effect.kind}) is in an answer, but not stored.`];
    const shown = {
      quantities: cart === null ? then.quantities : quantitiesOf(cart),
      code: code === undefined ? then.code : code,
    };
    if (textOf(then) === textOf(shown)) return [];
    return [
      `Version ${version} of cart ${opened.id} (${effect.kind}) showed ${textOf(shown)} instead of ${textOf(then)}.`,
    ];
  });
  const last = states.at(-1);
  const isAsReplayed = last !== undefined && textOf(last) === textOf(final.state);
  return isAsReplayed
    ? faults
    : [
        ...faults,
        `Cart ${opened.id} ended as ${textOf(final.state)}, which differs from the replay of its changes.`,
      ];
}

/** Returns the replayed state at each version, from the first version on. */
function statesOf(opened: CartState, { written, answered, final }: Replay): State[] {
  const requestAt = new Map(written.map(({ version, requestId }) => [version, requestId]));
  const byRequest = new Map(answered.map((change) => [change.requestId, change]));
  const states: State[] = [{ quantities: quantitiesOf(opened), code: null }];
  let state = states[0] ?? { quantities: new Map(), code: null };
  for (let version = 2; version <= final.version; version += 1) {
    const change = byRequest.get(requestAt.get(version) ?? "");
    if (change !== undefined) state = afterEffect(state, change.effect);
    states.push(state);
  }
  return states;
}

function afterEffect({ quantities, code }: State, effect: CartEffect): State {
  if (effect.kind === "code") return { quantities, code: effect.code };
  const after = new Map(quantities);
  if (effect.kind === "remove") for (const variantId of effect.variantIds) after.delete(variantId);
  if (effect.kind === "update")
    for (const [variantId, quantity] of effect.quantities) after.set(variantId, quantity);
  if (effect.kind === "add")
    for (const [variantId, quantity] of effect.quantities)
      after.set(variantId, (after.get(variantId) ?? 0) + quantity);
  return { quantities: after, code };
}

const quantitiesOf = ({ lines }: CartState): Map<string, number> =>
  new Map(lines.map(({ variantId, quantity }) => [variantId, quantity]));

const textOf = ({ quantities, code }: State): string =>
  JSON.stringify([[...quantities].toSorted(([a], [b]) => (a < b ? -1 : 1)), code]);

async function storedState(db: Database, cartId: string): Promise<State> {
  const lines = await db
    .selectFrom("cartLine")
    .select(["variantId", "quantity"])
    .where("cartId", "=", cartId)
    .execute();
  const promotion = await db
    .selectFrom("cartPromotion")
    .innerJoin("promotionCode", "promotionCode.id", "cartPromotion.promotionCodeId")
    .select("promotionCode.code")
    .where("cartPromotion.cartId", "=", cartId)
    .executeTakeFirst();
  return {
    quantities: new Map(lines.map(({ variantId, quantity }) => [variantId, quantity])),
    code: promotion?.code ?? null,
  };
}
