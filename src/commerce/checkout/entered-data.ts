/**
 * The address and e-mail address that a browser has entered on a checkout page. Only this browser gets the
 * complete data. All other browsers get masked data, because everyone who knows the URL of the page could
 * otherwise read an address that the shop or another browser has entered.
 */
import { sql } from "kysely";
import {
  decryptPersonalData,
  personalDataColumns,
  type EncryptedPersonalDataRow,
} from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";

export interface EnteredAddressAndEmail {
  readonly address: PostalAddress | undefined;
  readonly email: string | undefined;
}

interface EnteringBrowser {
  readonly cartId: string;
  /** The digest of the cookie that identifies the browser on the checkout page. */
  readonly digest: Buffer;
}

/**
 * Records which browser entered the cart's present address or e-mail address on the checkout page. The caller
 * must run this function in the transaction that changed the session, because this transaction has locked the
 * cart and the session.
 */
export async function recordBrowserThatEnteredPersonalData(
  transaction: Transaction,
  { cartId, digest, kinds }: EnteringBrowser & { readonly kinds: readonly ("address" | "buyer_email")[] },
): Promise<void> {
  if (kinds.length === 0) return;
  await sql`update personal_data set page_digest = ${digest}
    where kind = any(${kinds}::text[]) and id in
    (select unnest(array[${personalDataColumns}]) from cart where id = ${cartId})`.execute(transaction);
}

/**
 * Decrypts the address and the e-mail address that the given browser has entered for the cart or the cart's
 * order. Erased and replaced data is left out.
 */
export async function decryptPersonalDataEnteredByBrowser(
  reader: DatabaseOrTransaction,
  { keyring, cartId, digest }: EnteringBrowser & { readonly keyring: EncryptionKeyring },
): Promise<EnteredAddressAndEmail> {
  const { rows } = await sql<EncryptedPersonalDataRow>`
    select d.id, d.kind, d.level, d.sealed, d.data_key, d.key_id
    from cart c left join sales_order o on o.id = c.order_id
    join personal_data d on d.id in (c.address_id, c.buyer_email_id, o.address_id, o.buyer_email_id)
    where c.id = ${cartId} and d.page_digest = ${digest}`.execute(reader);
  const opened = rows.map((row) => decryptPersonalData(keyring, row));
  return {
    address: opened.find((data) => data?.kind === "address")?.address,
    email: opened.find((data) => data?.kind === "buyer_email")?.email,
  };
}
