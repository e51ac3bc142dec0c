/** Every place where something lies encrypted: what has to be known to give its rows new keys, or to look whether they open. */
import { placeOfItem } from "#access/oauth/oauth-items.ts";
import { placeOfSigningKey } from "#access/oauth/signing-keys.ts";
import { placeOf as placeOfPersonalData } from "#commerce/addresses/personal-data.ts";
import { secretPlaceOf } from "#commerce/checkout/session-aggregate.ts";
import { tokenPlaceOf } from "#commerce/payments/payment-rows.ts";
import { placeOfRecord } from "#database/idempotency.ts";
import type { Place } from "#foundation/encryption.ts";
import { placeOfSecret } from "#webhooks/signatures.ts";

interface KeyColumn {
  readonly name: string;
  readonly type: "text" | "bytea";
}

export interface SealedColumn {
  readonly table: string;
  /** Names of columns. Where a row holds nothing, all three are null. */
  readonly sealed: string;
  readonly dataKey: string;
  readonly keyId: string;
  /** The primary key. */
  readonly key: readonly [KeyColumn] | readonly [KeyColumn, KeyColumn];
  /** Where a row's text was sealed for, by its primary key; bytes are given in hex. */
  readonly placeOf: (first: string, second: string) => Place;
}

const id = [{ name: "id", type: "text" }] as const;
const columns = { sealed: "sealed", dataKey: "data_key", keyId: "key_id" } as const;
const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");

export const sealedColumns: readonly SealedColumn[] = [
  { table: "webhook_secret", ...columns, key: id, placeOf: placeOfSecret },
  { table: "personal_data", ...columns, key: id, placeOf: placeOfPersonalData },
  { table: "payment", sealed: "token_sealed", dataKey: "token_data_key", keyId: "token_key_id", key: id, placeOf: tokenPlaceOf },
  { table: "hosted_checkout_session", sealed: "url_sealed", dataKey: "url_data_key", keyId: "url_key_id", key: id, placeOf: secretPlaceOf },
  { table: "oauth_signing_key", ...columns, key: id, placeOf: placeOfSigningKey },
  {
    table: "oauth_item",
    ...columns,
    key: [
      { name: "kind", type: "text" },
      { name: "digest", type: "bytea" },
    ],
    placeOf: (kind, digest) => placeOfItem(kind, bytes(digest)),
  },
  {
    table: "idempotency_record",
    ...columns,
    key: [
      { name: "owner_id", type: "text" },
      { name: "idempotency_key", type: "bytea" },
    ],
    placeOf: (ownerId, digest) => placeOfRecord({ ownerId, digest: bytes(digest) }),
  },
];
