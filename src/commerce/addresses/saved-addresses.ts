/**
 * Stores the addresses that buyers save for later carts. A frontend finds the saved addresses of a buyer by
 * the buyer's reference and gets only masked addresses. A saved address can be erased.
 */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { erasePersonalData, type MaskedAddress, encryptPersonalData } from "./personal-data.ts";
import type { AddressValidationLevel, PostalAddress } from "./postal-address.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";

export interface SavedAddress {
  readonly id: string;
  readonly address: MaskedAddress;
  readonly level: AddressValidationLevel;
  readonly createdAt: Date;
}

export interface SavedAddressOwner {
  readonly merchantId: string;
  readonly buyerReference: string;
}

export interface SavedAddressCommandContext {
  readonly merchantId: string;
  readonly now: Date;
  readonly keyring: EncryptionKeyring;
}

/**
 * Maximum number of saved addresses of a buyer. Saving one more address erases the buyer's oldest saved
 * address.
 */
export const savedAddressesMax = 20;

/** Returns the query that selects the saved addresses of a buyer, newest first, without erased addresses. */
const savedAddressesQuery = (
  reader: DatabaseOrTransaction,
  { merchantId, buyerReference }: SavedAddressOwner,
) =>
  reader
    .selectFrom("personalData")
    .where("merchantId", "=", merchantId)
    .where("buyerReference", "=", buyerReference)
    .where("kind", "=", "address")
    .where("erasedAt", "is", null)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc");

export async function findSavedAddresses(
  reader: DatabaseOrTransaction,
  { merchantId, buyerReference }: SavedAddressOwner,
): Promise<SavedAddress[]> {
  const rows = await savedAddressesQuery(reader, { merchantId, buyerReference })
    .select(["id", "masked", "level", "createdAt"])
    .limit(savedAddressesMax)
    .execute();
  return rows.map(({ id, masked, level, createdAt }) => ({
    id,
    address: masked as MaskedAddress,
    level: level ?? "basic",
    createdAt,
  }));
}

export interface BuyerAddressToSave {
  readonly buyerReference: string;
  readonly address: PostalAddress;
  readonly level: AddressValidationLevel;
}

/**
 * Saves a copy of an address for later carts of a buyer. The copy has its own row, because the cart's address
 * is erased with the cart. If the buyer then has more than `savedAddressesMax` saved addresses, erases the
 * oldest.
 */
export async function saveBuyerAddress(
  transaction: Transaction,
  { keyring, merchantId, now }: SavedAddressCommandContext,
  { buyerReference, address, level }: BuyerAddressToSave,
): Promise<void> {
  await lockSavedAddresses(transaction, { merchantId, buyerReference });
  const id = createId("personalData", now.getTime());
  const row = encryptPersonalData(keyring, {
    id,
    merchantId,
    cartId: null,
    kind: "address",
    address,
    level,
    now,
    eraseAfter: null,
  });
  await transaction
    .insertInto("personalData")
    .values({ ...row, buyerReference })
    .execute();
  const old = await savedAddressesQuery(transaction, { merchantId, buyerReference })
    .select("id")
    .offset(savedAddressesMax)
    .execute();
  await erasePersonalData(
    transaction,
    old.map((kept) => kept.id),
    now,
  );
}

/**
 * Locks the saved addresses of a buyer until the end of the transaction. Without the lock, two concurrent
 * transactions could each save an address and together exceed the maximum number of saved addresses.
 */
async function lockSavedAddresses(
  transaction: Transaction,
  { merchantId, buyerReference }: SavedAddressOwner,
): Promise<void> {
  const lock = createHash("sha256")
    .update(`saved addresses\n${merchantId}\n${buyerReference}`)
    .digest()
    .readBigInt64BE();
  await sql`select pg_advisory_xact_lock(${String(lock)}::bigint)`.execute(transaction);
}

export interface RemoveSavedAddressInput {
  readonly savedAddressId: string;
  /** The buyer reference of the buyer who saved the address. */
  readonly buyerReference: string;
}

/**
 * Erases a saved address: deletes its data key, so that no copy of the encrypted address can be decrypted. A
 * cart that uses the address has its own copy, which stays until the cart ends.
 */
export async function removeSavedAddress(
  transaction: Transaction,
  context: SavedAddressCommandContext,
  input: RemoveSavedAddressInput,
): Promise<RemoveSavedAddressInput> {
  const row = await transaction
    .selectFrom("personalData")
    .select("id")
    .where("id", "=", blankIdWithForbiddenCharacters(input.savedAddressId))
    .where("merchantId", "=", context.merchantId)
    .where("buyerReference", "=", input.buyerReference)
    .where("erasedAt", "is", null)
    .executeTakeFirst();
  if (row === undefined) throw createFailure("resource_not_found");
  await erasePersonalData(transaction, [row.id], context.now);
  return input;
}
