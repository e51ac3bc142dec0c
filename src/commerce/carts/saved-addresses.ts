/** Addresses that buyers keep for their next carts: found by the buyer's reference, shown masked, erased on request. */
import type { MaskedAddress } from "#commerce/addresses/mask-address.ts";
import { erasePersonalData, sealPersonalData } from "#commerce/addresses/personal-data.ts";
import type { AddressLevel, PostalAddress } from "#commerce/addresses/postal-address.ts";
import { toId } from "#commerce/catalog/write-tenant.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { CartTenant } from "./change-cart.ts";

export interface SavedAddress {
  readonly id: string;
  readonly address: MaskedAddress;
  readonly level: AddressLevel;
  readonly createdAt: Date;
}

export interface Owner {
  readonly merchantId: string;
  readonly buyerReference: string;
}

export const savedAddressesMax = 20;

/** The latest first. */
export async function findSavedAddresses(reader: Reader, { merchantId, buyerReference }: Owner): Promise<SavedAddress[]> {
  const rows = await reader
    .selectFrom("personalData")
    .select(["id", "masked", "level", "createdAt"])
    .where("merchantId", "=", merchantId)
    .where("buyerReference", "=", buyerReference)
    .where("kind", "=", "address")
    .where("erasedAt", "is", null)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(savedAddressesMax)
    .execute();
  return rows.map(({ id, masked, level, createdAt }) => ({ id, address: masked as MaskedAddress, level: level ?? "basic", createdAt }));
}

export interface AddressToKeep {
  readonly buyerReference: string;
  readonly address: PostalAddress;
  readonly level: AddressLevel;
}

/** A row of its own beside the cart's, which goes with the cart. A buyer keeps so many; the oldest beyond that are erased. */
export async function keepAddress(
  transaction: Transaction,
  { keyring, merchantId, now }: CartTenant,
  { buyerReference, address, level }: AddressToKeep,
): Promise<void> {
  const id = createId("personalData", now.getTime());
  const row = sealPersonalData(keyring, { id, merchantId, cartId: null, kind: "address", address, level, now, eraseAfter: null });
  await transaction
    .insertInto("personalData")
    .values({ ...row, buyerReference })
    .execute();
  const old = await transaction
    .selectFrom("personalData")
    .select("id")
    .where("merchantId", "=", merchantId)
    .where("buyerReference", "=", buyerReference)
    .where("kind", "=", "address")
    .where("erasedAt", "is", null)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .offset(savedAddressesMax)
    .execute();
  await erasePersonalData(
    transaction,
    old.map((kept) => kept.id),
    now,
  );
}

export interface SavedAddressRemoveInput {
  readonly savedAddressId: string;
  /** Whose it is. */
  readonly buyerReference: string;
}

/** Erases it: no copy of what was stored opens again. */
export async function removeSavedAddress(
  transaction: Transaction,
  tenant: CartTenant,
  input: SavedAddressRemoveInput,
): Promise<SavedAddressRemoveInput> {
  const row = await transaction
    .selectFrom("personalData")
    .select("id")
    .where("id", "=", toId(input.savedAddressId))
    .where("merchantId", "=", tenant.merchantId)
    .where("buyerReference", "=", input.buyerReference)
    .where("erasedAt", "is", null)
    .executeTakeFirst();
  if (row === undefined) throw fail("resource_not_found");
  await erasePersonalData(transaction, [row.id], tenant.now);
  return input;
}
