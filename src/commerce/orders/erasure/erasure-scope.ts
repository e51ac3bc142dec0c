/**
 * Finds a buyer's carts, orders and personal data, and the stored answers of idempotent requests that contain
 * this data. The search starts from a cart, an order, an address token or a buyer reference. It runs before
 * the transaction of the erasure, because decrypting all stored answers of a merchant takes longer than a
 * cart may be locked.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  findEncryptedPersonalData,
  maskAddress,
  maskEmail,
  decryptPersonalData,
  type PersonalData,
  personalDataColumns,
} from "#commerce/addresses/personal-data.ts";
import type { Database } from "#database/connect.ts";
import {
  findIdempotencyRecordsByBody,
  type IdempotencyRecordKey,
} from "#database/idempotency-maintenance.ts";
import { DecryptionError, type EncryptionKeyring } from "#foundation/encryption.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import { hashCartAddressToken } from "#commerce/carts/find-carts.ts";

/**
 * The object from which the search for a buyer's data starts. A buyer reference is unique only within its
 * merchant.
 */
export type BuyerIdentifierForErasure =
  | { readonly by: "cart" | "order" | "addressToken"; readonly value: string }
  | { readonly by: "buyerReference"; readonly value: string; readonly merchantId: string };

export interface BuyerRecordIdsToErase {
  readonly merchantId: string;
  /** Ids of the buyer's carts, including the carts that were merged into them. */
  readonly cartIds: readonly string[];
  readonly orderIds: readonly string[];
  /** Ids of the buyer's rows of `personal_data`, including rows that are already erased. */
  readonly personalIds: readonly string[];
}

/**
 * Finds the carts, orders and personal data of a buyer. Throws `resource_not_found` if the target does not
 * exist, so that a misspelt id does not look like a successful erasure.
 */
export async function findBuyerRecordIdsToErase(
  reader: DatabaseOrTransaction,
  target: BuyerIdentifierForErasure,
): Promise<BuyerRecordIdsToErase> {
  const seed = await findErasureStart(reader, target);
  if (seed === undefined)
    throw createFailure("resource_not_found", {
      message: `No data was found for ${targetNames[target.by]}.`,
    });
  const { merchantId, cartIds, buyerReference } = seed;
  const { rows: carts } = await sql<{ id: string }>`
    with recursive mine (id) as (
      select unnest(${cartIds}::text[]) union select c.id from cart c join mine
      on c.merged_into_cart_id = mine.id)
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
    union select id from personal_data where merchant_id = ${merchantId}
    and buyer_reference = ${buyerReference}::text
    union select unnest(array[${personalDataColumns}]) from cart where id = any(${ids}::text[])
    union select unnest(array[${personalDataColumns}]) from sales_order
    where id = any(${orderIds}::text[])`.execute(reader);
  const personalIds = personal.map(({ id }) => id).filter((id: string | null) => id !== null);
  return { merchantId, cartIds: ids, orderIds, personalIds };
}

/**
 * Locks the buyer's carts and then the orders until the end of the transaction. All commands lock carts
 * before orders, so that they cannot deadlock.
 */
export async function lockCartsAndOrdersToErase(
  transaction: Transaction,
  { cartIds, orderIds }: BuyerRecordIdsToErase,
): Promise<void> {
  await sql`select id from cart where id = any(${cartIds}::text[]) order by id for no key update`.execute(
    transaction,
  );
  await sql`select id from sales_order where id = any(${orderIds}::text[]) order by id for no key
    update`.execute(transaction);
}

export function areSameBuyerRecordIds(one: BuyerRecordIdsToErase, other: BuyerRecordIdsToErase): boolean {
  const isSame = (key: "cartIds" | "orderIds" | "personalIds"): boolean => {
    const ids = new Set(other[key]);
    return ids.size === new Set(one[key]).size && one[key].every((id) => ids.has(id));
  };
  return (
    one.merchantId === other.merchantId && isSame("cartIds") && isSame("orderIds") && isSame("personalIds")
  );
}

const targetNames: Readonly<Record<BuyerIdentifierForErasure["by"], string>> = {
  cart: "this cart",
  order: "this order",
  addressToken: "this address token. The token was replaced, or its cart has ended. Erase by cart or order",
  buyerReference: "a buyer with this reference and merchant",
};

interface ErasureStart {
  readonly merchantId: string;
  readonly cartIds: readonly string[];
  readonly buyerReference: string | null;
}

async function findErasureStart(
  reader: DatabaseOrTransaction,
  target: BuyerIdentifierForErasure,
): Promise<ErasureStart | undefined> {
  if (target.by === "buyerReference") return findBuyerByReference(reader, target);
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
        : await cart.where("cart.addressTokenDigest", "=", hashCartAddressToken(value)).executeTakeFirst();
  return found === undefined
    ? undefined
    : { merchantId: found.merchantId, cartIds: [found.id], buyerReference: null };
}

/** Finds a buyer by the buyer reference, even if the buyer has saved addresses but neither carts nor orders. */
async function findBuyerByReference(
  reader: DatabaseOrTransaction,
  { merchantId, value }: { readonly merchantId: string; readonly value: string },
): Promise<ErasureStart | undefined> {
  const { rows } = await sql<{ id: string | null }>`
    select id from cart where merchant_id = ${merchantId} and buyer_reference = ${value}
    union select cart_id from sales_order where merchant_id = ${merchantId} and buyer_reference = ${value}
    union select cart_id from personal_data where merchant_id = ${merchantId}
    and buyer_reference = ${value}`.execute(reader);
  if (rows.length === 0) return undefined;
  return { merchantId, cartIds: rows.map(({ id }) => id).filter((id) => id !== null), buyerReference: value };
}

export interface BuyerDataToErase {
  readonly scope: BuyerRecordIdsToErase;
  readonly traces: BuyerTraces;
  /** Idempotency keys of the records whose stored answers contain data of the buyer. */
  readonly answers: readonly IdempotencyRecordKey[];
  /**
   * Stored answers up to this time were searched for data of the buyer. `answers` may lack answers that were
   * stored later.
   */
  readonly lookedUpTo: Date;
}

interface ErasureSearch {
  readonly target: BuyerIdentifierForErasure;
  readonly now: Date;
}

/**
 * Maximum time in milliseconds from the arrival of a request to the commit of its idempotency record. Before
 * the commit, the erasure cannot find the record. The record contains the time of arrival, by the clock of
 * the process that received the request.
 */
const lateMsMax = 600_000;

export async function findBuyerDataToErase(
  db: Database,
  keyring: EncryptionKeyring,
  { target, now }: ErasureSearch,
): Promise<BuyerDataToErase> {
  const scope = await findBuyerRecordIdsToErase(db, target);
  const traces = await findBuyerTraces(db, keyring, scope);
  const answers = await findIdempotencyRecordsByBody(db, keyring, {
    ownerIds: await findIdempotencyRecordOwnerIds(db, scope.merchantId),
    matchesBody: traces.isIn,
  });
  return { scope, traces, answers, lookedUpTo: new Date(now.getTime() - lateMsMax) };
}

/**
 * Decrypts the buyer's personal data. Returns an object that searches stored answers for the texts of this
 * data. If a value cannot be decrypted, for example because it was erased before, only its id is searched.
 */
async function findBuyerTraces(
  reader: DatabaseOrTransaction,
  keyring: EncryptionKeyring,
  scope: BuyerRecordIdsToErase,
): Promise<BuyerTraces> {
  const rows = await findEncryptedPersonalData(reader, scope.personalIds);
  const opened = [...rows.values()].flatMap((row) => {
    try {
      return decryptPersonalData(keyring, row) ?? [];
    } catch (error) {
      if (error instanceof DecryptionError) return [];
      throw error;
    }
  });
  return findTraces([...scope.cartIds, ...scope.orderIds, ...scope.personalIds], opened);
}

/**
 * Returns the ids of all callers whose stored answers may contain data of the merchant's buyers. These are
 * the merchant's installations and tokens, and the tokens that belong to no merchant.
 */
export async function findIdempotencyRecordOwnerIds(
  reader: DatabaseOrTransaction,
  merchantId: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from installation where merchant_id = ${merchantId}
    union all select id from internal_token where merchant_id = ${merchantId} or merchant_id is null`.execute(
    reader,
  );
  return rows.map(({ id }) => id);
}

/** Recognizes JSON texts that contain personal data of the buyer or an id of this data. */
interface BuyerTraces {
  readonly isIn: (json: string) => boolean;
}

/**
 * Creates the function that checks whether a stored answer contains data of the buyer. The check may also
 * match answers about other buyers. Emptying these does little harm, because their callers can read the
 * current state again.
 */
function findTraces(ids: readonly string[], personal: readonly PersonalData[]): BuyerTraces {
  const words = new Set([...ids, ...personal.flatMap(wordsOf)].map(escaped));
  const groups = personal.flatMap(maskOf);
  return {
    isIn: (json) =>
      [...words].some((word) => json.includes(word)) ||
      groups.some((group) => group.every((word) => json.includes(word))),
  };
}

/** Returns a text as JSON writes it inside a string: with escapes, without the surrounding quotes. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const quoted = (text: string): string => JSON.stringify(text);

function wordsOf(data: PersonalData): string[] {
  if (data.kind === "buyer_email") return [data.email, maskEmail(data.email)];
  // Stored answers are not searched for the city, region and country of an address, because many buyers share
  // them.
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

/**
 * Minimum length of most texts for which stored answers are searched, in characters. Shorter texts occur in
 * too many answers of other buyers.
 */
const wordLengthMin = 4;

/**
 * Returns the texts by which stored answers with the masked address can be found: the city, the start of the
 * postal code and the initials. An answer matches if it contains all texts of one group.
 */
function maskOf(data: PersonalData): string[][] {
  if (data.kind === "buyer_email") return [];
  const { city, postalCodePrefix, recipientInitials } = maskAddress(data.address);
  const group = [city, postalCodePrefix, recipientInitials].filter((part) => part !== null).map(quoted);
  return group.length < 2 ? [] : [group];
}
