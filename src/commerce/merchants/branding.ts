/**
 * Reads and changes a merchant's branding, which the checkout page shows: name, logo, colour, and links to
 * support and legal texts.
 */
import { type Selectable, sql } from "kysely";
import type { MerchantBrandingTable } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getTextFieldErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { findCheckoutReturnUrlFaults } from "#commerce/checkout/session-page.ts";
import { brandColorFormat } from "./brand-color.ts";
import { decodeMerchantLogoFile, type MerchantLogoFile, type LogoFileType, logoTypes } from "./logo-file.ts";

const urlFields = ["supportUrl", "termsUrl", "privacyUrl", "imprintUrl"] as const;
const textFields = ["displayName", "color", "supportEmail", "supportPhone", ...urlFields] as const;

export type MerchantBrandingTexts = Readonly<Record<(typeof textFields)[number], string | null>>;

/** A stored branding of a merchant, without the content of the logo file. */
export type MerchantBrandingRow = Omit<Selectable<MerchantBrandingTable>, "logo">;

export interface MerchantBrandingColumnUpdate extends Partial<{
  readonly [Field in keyof MerchantBrandingTexts]: string | null | undefined;
}> {
  readonly merchantId: string;
  /** The content of the logo file, encoded in base64. */
  readonly logo?: string | null | undefined;
}

const columns = [
  "merchantId",
  ...textFields,
  "logoHash",
  "logoType",
  "logoWidth",
  "logoHeight",
  "updatedAt",
] as const;

/**
 * Returns the brandings (name, logo, colour and links) of the given merchants, by merchant id. Merchants
 * without a branding are left out.
 */
export async function findMerchantBrandings(
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<Map<string, MerchantBrandingRow>> {
  const rows = await reader
    .selectFrom("merchantBranding")
    .select(columns)
    .where(sql<boolean>`merchant_id = any(${merchantIds}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.merchantId, row]));
}

/** Returns the content of a logo file; undefined if no merchant has a logo with this hash. */
export async function findMerchantLogoByHash(
  reader: DatabaseOrTransaction,
  hash: string,
): Promise<{ readonly logo: Buffer; readonly logoType: LogoFileType } | undefined> {
  const row = await reader
    .selectFrom("merchantBranding")
    .select(["logo", "logoType"])
    .where("logoHash", "=", hash)
    .limit(1)
    .executeTakeFirst();
  const logoType = logoTypes.find((type) => type === row?.logoType);
  if (logoType === undefined || row === undefined || row.logo === null) return undefined;
  return { logo: Buffer.from(row.logo), logoType };
}

const noLogo: { readonly [Field in keyof MerchantLogoFile]: null } = {
  logo: null,
  logoHash: null,
  logoType: null,
  logoWidth: null,
  logoHeight: null,
};

/** Changes parts of a merchant's branding. A part that is left out stays unchanged; null removes a part. */
export async function updateMerchantBranding(
  transaction: Transaction,
  access: { readonly merchantId: string | null; readonly now: Date },
  { merchantId, logo, ...texts }: MerchantBrandingColumnUpdate,
): Promise<void> {
  if (access.merchantId !== null && access.merchantId !== merchantId)
    throw createFailure("merchant_not_found");
  const { file, faults } =
    typeof logo === "string"
      ? decodeMerchantLogoFile("/logo", logo)
      : { file: logo === null ? noLogo : undefined, faults: [] };
  requireNoInputFieldErrors([...findBrandingFaults(texts), ...faults]);
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", merchantId)
    .forUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
  const given = Object.fromEntries(textFields.map((field) => [field, texts[field]] as const));
  const change = { ...withoutUndefined(given), ...file, updatedAt: access.now };
  await transaction
    .insertInto("merchantBranding")
    .values({ merchantId, ...change })
    .onConflict((conflict) => conflict.column("merchantId").doUpdateSet(change))
    .execute();
}

const withoutUndefined = (
  values: Readonly<Record<string, string | null | undefined>>,
): Partial<MerchantBrandingTexts> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Maximum length of a merchant's display name, in characters. */
export const displayNameLengthMax = 100;
const emailFormat = /^[^\s@\p{Cc}<>"&?]+@[^\s@\p{Cc}<>"&?]+\.[^\s@\p{Cc}<>"&?]+$/u;
const phoneFormat = /^\+?[0-9][0-9 ()./-]{3,29}$/;

const patternFaults = (
  field: string,
  value: string | null | undefined,
  [rule, message]: readonly [RegExp, string],
): InputFieldErrors =>
  typeof value !== "string" || (value.length <= 254 && rule.test(value))
    ? []
    : [createRequestBodyErrorDetail(field, "pattern_mismatch", message)];

function findBrandingFaults(
  texts: Omit<MerchantBrandingColumnUpdate, "merchantId" | "logo">,
): InputFieldErrors {
  const { displayName, color, supportEmail, supportPhone } = texts;
  return [
    ...getTextFieldErrors("/displayName", displayName, { max: displayNameLengthMax }),
    ...patternFaults("/color", color, [
      brandColorFormat,
      "The colour must have the form #rrggbb with lower-case hexadecimal digits, for example #2f5d50.",
    ]),
    ...patternFaults("/supportEmail", supportEmail, [
      emailFormat,
      "The e-mail address must have the form name@domain.example, with at most 254 characters.",
    ]),
    ...patternFaults("/supportPhone", supportPhone, [
      phoneFormat,
      "The phone number must have 4 to 30 digits, spaces and ( ) . / -, and may start with +.",
    ]),
    ...urlFields.flatMap((field) => {
      const url = texts[field];
      return typeof url === "string" ? findCheckoutReturnUrlFaults(`/${field}`, url) : [];
    }),
  ];
}
