/**
 * Adds codes to a promotion: random codes, which cannot be guessed, or codes that the merchant chooses. A
 * code belongs to the same promotion for ever, even after the promotion has ended.
 */
import { randomInt } from "node:crypto";
import { sql } from "kysely";
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { toPromotionConflictDetail, lockUnendedPromotion } from "./promotion-status.ts";
import { promotionFieldBounds as bounds } from "./promotion-fields.ts";
import { promotionCodeLengthMax, normalizePromotionCode } from "./choose-promotions.ts";
import type { PromotionCodeRow } from "./read-promotions.ts";

/**
 * The input for adding codes to a promotion. For random codes, it has `count` and optionally `prefix` and
 * `length`. For codes that the merchant chooses, it has `codes`.
 */
export interface GeneratePromotionCodesInput {
  readonly promotionId: string;
  readonly count?: number | null | undefined;
  /** Text with which each random code begins. */
  readonly prefix?: string | null | undefined;
  /** Length of each random code in characters, without the prefix. */
  readonly length?: number | null | undefined;
  readonly codes?: readonly string[] | null | undefined;
  /**
   * Maximum number of orders that may use each of the codes. If null, a code has no limit of its own, and
   * only the usage limit of the promotion applies.
   */
  readonly usageLimit?: number | null | undefined;
}

/** The promotion codes that a call has added to a promotion. */
export interface GeneratedPromotionCodes {
  readonly promotionId: string;
  readonly codes: readonly PromotionCodeRow[];
}

/**
 * The characters of which random codes consist. Characters that look similar in print or handwriting are left
 * out. Vowels are left out too, so that no random code contains a word.
 */
const codeAlphabet = "3479CDFGHJKMNPQRTWXY";
/**
 * Maximum number of attempts to generate the random codes. Each further attempt replaces those codes that
 * already existed. There are so many possible codes that ten attempts never fail by chance.
 */
const drawRoundsMax = 10;

/**
 * Adds codes to a promotion with the trigger "code". Throws if the merchant already has one of the chosen
 * codes.
 */
export async function generatePromotionCodes(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: GeneratePromotionCodesInput,
): Promise<GeneratedPromotionCodes> {
  requireNoInputFieldErrors(generateFaults(input));
  const promotion = await lockUnendedPromotion(transaction, context, { promotionId: input.promotionId });
  if (promotion.trigger !== "code")
    throw createFailure("invalid_state", {
      conflict: toPromotionConflictDetail(promotion, "promotion_is_automatic"),
    });
  const batch = { promotionId: promotion.id, usageLimit: input.usageLimit ?? null };
  const codes =
    input.codes === null || input.codes === undefined
      ? await saveRandomCodes(transaction, context, {
          ...batch,
          count: input.count ?? 0,
          draw: () => drawCode(input),
        })
      : await saveMerchantCodes(transaction, context, {
          ...batch,
          texts: input.codes.map((code) => code.trim()),
        });
  return { promotionId: promotion.id, codes };
}

function generateFaults({
  count,
  prefix,
  length,
  codes,
  usageLimit,
}: GeneratePromotionCodesInput): InputFieldErrors {
  return [
    ...codeSourceFaults({ count, prefix, length, codes }),
    ...getIntegerFieldErrors("/count", count, { min: 1, max: bounds.codesMax }),
    ...getIntegerFieldErrors("/length", length, { min: bounds.drawnLengthMin, max: bounds.drawnLengthMax }),
    ...prefixFaults(prefix),
    ...codesFaults(codes ?? undefined),
    ...getIntegerFieldErrors("/usageLimit", usageLimit, { min: 1, max: bounds.limitMax }),
  ];
}

function codeSourceFaults({
  count,
  prefix,
  length,
  codes,
}: Omit<GeneratePromotionCodesInput, "promotionId" | "usageLimit">): InputFieldErrors {
  const isGiven = codes !== null && codes !== undefined;
  if (!isGiven)
    return count === null || count === undefined
      ? [createRequestBodyErrorDetail("/count", "required", 'Either "count" or "codes" is required.')]
      : [];
  return Object.entries({ count, prefix, length }).flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [createRequestBodyErrorDetail(`/${name}`, "not_allowed", `"${name}" is not allowed with "codes".`)],
  );
}

/**
 * Returns the faults of the prefix of random codes. The prefix must itself be a valid code; then the prefix
 * followed by random characters is valid too.
 */
function prefixFaults(prefix: string | null | undefined): InputFieldErrors {
  if (prefix === null || prefix === undefined) return [];
  const normalized = prefix.trim() === prefix ? normalizePromotionCode(prefix) : undefined;
  if (
    normalized !== undefined &&
    Math.max(Array.from(prefix).length, Array.from(normalized).length) <= bounds.prefixMax
  )
    return [];
  return [
    createRequestBodyErrorDetail(
      "/prefix",
      "pattern_mismatch",
      `"prefix" must be 1 to ${bounds.prefixMax} letters, digits, - or _, starting with a ` +
        "letter or digit.",
    ),
  ];
}

function codesFaults(codes: readonly string[] | undefined): InputFieldErrors {
  if (codes === undefined) return [];
  const seen = new Set<string>();
  const faults = codes.flatMap((code, index) => {
    const field = `/codes/${index}`;
    const normalized = normalizePromotionCode(code);
    if (normalized === undefined || Array.from(code.trim()).length > promotionCodeLengthMax) {
      return [
        createRequestBodyErrorDetail(
          field,
          "pattern_mismatch",
          `A code must be 1 to ${promotionCodeLengthMax} letters, digits, - or _, starting ` +
            "with a letter or digit.",
        ),
      ];
    }
    if (seen.has(normalized))
      return [createRequestBodyErrorDetail(field, "duplicate", '"codes" must not contain a code twice.')];
    seen.add(normalized);
    return [];
  });
  return [...getListLengthErrors("/codes", codes, { min: 1, max: bounds.codesMax }), ...faults];
}

function drawCode({ prefix, length }: Pick<GeneratePromotionCodesInput, "prefix" | "length">): string {
  const drawn = Array.from({ length: length ?? bounds.drawnLengthDefault }, () =>
    codeAlphabet.charAt(randomInt(codeAlphabet.length)),
  ).join("");
  return `${prefix ?? ""}${drawn}`;
}

interface CodeBatch {
  readonly promotionId: string;
  readonly usageLimit: number | null;
}

async function saveRandomCodes(
  transaction: Transaction,
  context: MerchantCommandContext,
  { count, draw, ...batch }: CodeBatch & { readonly count: number; readonly draw: () => string },
): Promise<PromotionCodeRow[]> {
  const saved: PromotionCodeRow[] = [];
  for (let round = 0; saved.length < count; round += 1) {
    if (round === drawRoundsMax)
      throw new Error(`Only ${saved.length} of ${count} random codes were unused.`);
    const texts = Array.from({ length: count - saved.length }, draw);
    saved.push(...(await insertCodes(transaction, context, { ...batch, texts })));
  }
  return saved;
}

async function saveMerchantCodes(
  transaction: Transaction,
  context: MerchantCommandContext,
  { texts, ...batch }: CodeBatch & { readonly texts: readonly string[] },
): Promise<PromotionCodeRow[]> {
  const saved = new Map(
    (await insertCodes(transaction, context, { ...batch, texts })).map((row) => [row.code, row]),
  );
  const taken = texts.flatMap((code, index) => (saved.has(code) ? [] : [{ code, index }]));
  if (taken.length > 0) throw codesTakenFailure(taken);
  return texts.flatMap((code) => saved.get(code) ?? []);
}

function codesTakenFailure(taken: readonly { readonly code: string; readonly index: number }[]): Failure {
  const details = taken.map(({ code, index }) =>
    createRequestBodyErrorDetail(
      `/codes/${index}`,
      "already_exists",
      `The merchant already has the code ${code}.`,
    ),
  );
  return createFailure("already_exists", {
    message: details[0]?.message ?? "The merchant already has the code.",
    details,
    conflict: {
      resource: "promotion_code",
      id: null,
      currentStatus: null,
      currentVersion: null,
      reason: "code_taken",
      data: { codes: taken.map(({ code }) => code) },
    },
  });
}

/**
 * Inserts promotion codes, except those that the merchant already has. The codes are inserted in the order of
 * their normalized form, so that two transactions with the same codes cannot deadlock.
 */
async function insertCodes(
  transaction: Transaction,
  context: MerchantCommandContext,
  { promotionId, usageLimit, texts }: CodeBatch & { readonly texts: readonly string[] },
): Promise<PromotionCodeRow[]> {
  const rows = texts
    .map((code) => ({
      id: createId("promotionCode", context.now.getTime()),
      code,
      codeNormalized: normalizePromotionCode(code) ?? "",
    }))
    .toSorted((one, other) => (one.codeNormalized < other.codeNormalized ? -1 : 1));
  const inserted = await sql<PromotionCodeRow>`
    insert into promotion_code (id, merchant_id, promotion_id, code, code_normalized, usage_limit, created_at)
    select id, ${context.merchantId}, ${promotionId}, code, "codeNormalized", ${usageLimit}::int,
    ${context.now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(id text, code text, "codeNormalized" text)
    on conflict (merchant_id, code_normalized) do nothing
    returning *`.execute(transaction);
  return inserted.rows;
}
