/**
 * Finds what is known of a buyer, from a cart, an order, an address token or the name that a frontend gave
 * the buyer: carts, orders, personal data, and kept answers that contain any of it. Runs before the
 * transaction of the erasure, because opening all kept answers of a merchant takes longer than a cart may be
 * locked.
 */
import { sql } from "kysely";
import type { Reader, Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import {
  findPersonalData,
  maskAddress,
  maskEmail,
  openPersonalData,
  type PersonalData,
  personalDataColumns,
} from "#commerce/addresses/personal-data.ts";
import type { Database } from "#database/connect.ts";
import { findIdempotencyRecords, type RecordKey } from "#database/idempotency-maintenance.ts";
import { DecryptionFailed, type Keyring } from "#foundation/encryption.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import { digestAddressToken } from "#commerce/carts/find-carts.ts";

/** A buyer's reference means something with one merchant alone. */
export type ErasureTarget =
  | { readonly by: "cart" | "order" | "addressToken"; readonly value: string }
  | { readonly by: "buyerReference"; readonly value: string; readonly merchantId: string };

export interface ErasureScope {
  readonly merchantId: string;
  /** Those that were merged into one of them included. */
  readonly cartIds: readonly string[];
  readonly orderIds: readonly string[];
  /** Rows of personal_data, those that were erased before included. */
  readonly personalIds: readonly string[];
}

/** Throws where there is no such thing: nobody shall believe that something was erased that was only misspelt. */
export async function findErasureScope(reader: Reader, target: ErasureTarget): Promise<ErasureScope> {
  const seed = await findSeed(reader, target);
  if (seed === undefined)
    throw fail("resource_not_found", { message: `Nothing is known of ${nothing[target.by]}.` });
  const { merchantId, cartIds, buyerReference } = seed;
  const { rows: carts } = await sql<{ id: string }>`
    with recursive mine (id) as (
      select unnest(${cartIds}::text[]) union select c.id from cart c join mine on c.merged_into_cart_id = mine.id)
    select id from mine order by id`.execute(reader);
  const ids = carts.map(({ id }) => id);
  const { rows: orders } = await sql<{ id: string }>`
    select id from sales_order where cart_id = any(${ids}::text[])
      or (merchant_id = ${merchantId} and buyer_reference = ${buyerReference}::text) order by id`.execute(
    reader,
  );
  const orderIds = orders.map(({ id }) => id);
  const { rows: personal } = await sql<{ id: string }>`
    select id from personal_data where cart_id = any(${ids}::text[])
    union select id from personal_data where merchant_id = ${merchantId} and buyer_reference = ${buyerReference}::text
    union select unnest(array[${personalDataColumns}]) from cart where id = any(${ids}::text[])
    union select unnest(array[${personalDataColumns}]) from sales_order where id = any(${orderIds}::text[])`.execute(
    reader,
  );
  const personalIds = personal.map(({ id }) => id).filter((id: string | null) => id !== null);
  return { merchantId, cartIds: ids, orderIds, personalIds };
}

/**
 * Carts first, then orders: as everybody locks them. Until the end of the transaction nobody places, changes
 * or ends anything of it.
 */
export async function lockErasureScope(
  transaction: Transaction,
  { cartIds, orderIds }: ErasureScope,
): Promise<void> {
  await sql`select id from cart where id = any(${cartIds}::text[]) order by id for no key update`.execute(
    transaction,
  );
  await sql`select id from sales_order where id = any(${orderIds}::text[]) order by id for no key update`.execute(
    transaction,
  );
}

export function isSameScope(one: ErasureScope, other: ErasureScope): boolean {
  const isSame = (key: "cartIds" | "orderIds" | "personalIds"): boolean => {
    const ids = new Set(other[key]);
    return ids.size === new Set(one[key]).size && one[key].every((id) => ids.has(id));
  };
  return (
    one.merchantId === other.merchantId && isSame("cartIds") && isSame("orderIds") && isSame("personalIds")
  );
}

const nothing: Readonly<Record<ErasureTarget["by"], string>> = {
  cart: "this cart",
  order: "this order",
  addressToken: "this address token: it was replaced, or its cart has ended. Erase the cart or the order",
  buyerReference: "a buyer by this reference with this merchant",
};

interface Seed {
  readonly merchantId: string;
  readonly cartIds: readonly string[];
  readonly buyerReference: string | null;
}

async function findSeed(reader: Reader, target: ErasureTarget): Promise<Seed | undefined> {
  if (target.by === "buyerReference") return findBuyer(reader, target);
  const { value } = target;
  const cart = reader.selectFrom("cart").select(["cart.merchantId", "cart.id"]);
  const found =
    target.by === "order"
      ? await reader
          .selectFrom("salesOrder")
          .select(["merchantId", "cartId as id"])
          .where("id", "=", value)
          .executeTakeFirst()
      : target.by === "cart"
        ? await cart.where("cart.id", "=", value).executeTakeFirst()
        : await cart.where("cart.addressTokenDigest", "=", digestAddressToken(value)).executeTakeFirst();
  return found === undefined
    ? undefined
    : { merchantId: found.merchantId, cartIds: [found.id], buyerReference: null };
}

/** Also one of whom nothing but saved addresses is there. */
async function findBuyer(
  reader: Reader,
  { merchantId, value }: { readonly merchantId: string; readonly value: string },
): Promise<Seed | undefined> {
  const { rows } = await sql<{ id: string | null }>`
    select id from cart where merchant_id = ${merchantId} and buyer_reference = ${value}
    union select cart_id from sales_order where merchant_id = ${merchantId} and buyer_reference = ${value}
    union select cart_id from personal_data where merchant_id = ${merchantId} and buyer_reference = ${value}`.execute(
    reader,
  );
  if (rows.length === 0) return undefined;
  return { merchantId, cartIds: rows.map(({ id }) => id).filter((id) => id !== null), buyerReference: value };
}

export interface ErasureFinds {
  readonly scope: ErasureScope;
  readonly traces: Traces;
  /** Answers that were kept for retries and tell of the buyer. */
  readonly answers: readonly RecordKey[];
  /** What is kept since then may not have been looked at. */
  readonly lookedUpTo: Date;
}

interface Looking {
  readonly target: ErasureTarget;
  readonly now: Date;
}

/**
 * A request has its time from when it came, and by the clock of its process: so long, at most, until its
 * answer can be seen.
 */
const lateMsMax = 600_000;

export async function findForErasure(
  db: Database,
  keyring: Keyring,
  { target, now }: Looking,
): Promise<ErasureFinds> {
  const scope = await findErasureScope(db, target);
  const traces = await tracesOf(db, keyring, scope);
  const answers = await findIdempotencyRecords(db, keyring, {
    ownerIds: await whoWasTold(db, scope.merchantId),
    holds: traces.isIn,
  });
  return { scope, traces, answers, lookedUpTo: new Date(now.getTime() - lateMsMax) };
}

/** What is erased does not open a second time; what does not open at all is found by its ids alone. */
async function tracesOf(reader: Reader, keyring: Keyring, scope: ErasureScope): Promise<Traces> {
  const rows = await findPersonalData(reader, scope.personalIds);
  const opened = [...rows.values()].flatMap((row) => {
    try {
      return openPersonalData(keyring, row) ?? [];
    } catch (error) {
      if (error instanceof DecryptionFailed) return [];
      throw error;
    }
  });
  return findTraces([...scope.cartIds, ...scope.orderIds, ...scope.personalIds], opened);
}

/** Or may have been: the merchant's installations and tokens, and the platform's tokens. */
export async function whoWasTold(reader: Reader, merchantId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from installation where merchant_id = ${merchantId}
    union all select id from internal_token where merchant_id = ${merchantId} or merchant_id is null`.execute(
    reader,
  );
  return rows.map(({ id }) => id);
}

/**
 * Recognizes texts that contain anything of a buyer: an id of the buyer's data, or some of the erased data
 * itself.
 */
interface Traces {
  readonly isIn: (json: string) => boolean;
}

/** Rather one text too many than one too few: whoever asked it what was answered can ask what it is now. */
function findTraces(ids: readonly string[], personal: readonly PersonalData[]): Traces {
  const words = new Set([...ids, ...personal.flatMap(wordsOf)].map(escaped));
  const groups = personal.flatMap(maskOf);
  return {
    isIn: (json) =>
      [...words].some((word) => json.includes(word)) ||
      groups.some((group) => group.every((word) => json.includes(word))),
  };
}

/** As JSON writes it. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const quoted = (text: string): string => JSON.stringify(text);

function wordsOf(data: PersonalData): string[] {
  if (data.kind === "buyer_email") return [data.email, maskEmail(data.email)];
  // A town, a region and a country are those of many.
  const {
    city: _city,
    regionCode: _region,
    countryCode: _country,
    postalCode,
    email,
    ...own
  } = data.address satisfies PostalAddress;
  const texts = Object.values(own).filter(
    (value): value is string => value !== null && value.length >= wordLengthMin,
  );
  return [
    ...texts,
    ...(email === null ? [] : [email, maskEmail(email)]),
    ...(postalCode === null || postalCode.length < wordLengthMin ? [] : [postalCode]),
  ];
}

/** Shorter ones are in every text. */
const wordLengthMin = 4;

/** What is shown of an address, all of it in one text. */
function maskOf(data: PersonalData): string[][] {
  if (data.kind === "buyer_email") return [];
  const { city, postalCodePrefix, recipientInitials } = maskAddress(data.address);
  const group = [city, postalCodePrefix, recipientInitials].filter((part) => part !== null).map(quoted);
  return group.length < 2 ? [] : [group];
}
