/**
 * The codes of a promotion: drawn at random, so that nobody finds one by guessing, or given by the merchant.
 * A code belongs to one promotion of its merchant for ever, whatever becomes of the promotion.
 */
import { randomInt } from "node:crypto";
import { sql } from "kysely";
import { countFaults, faultAt, type Faults, integerFaults, requireNoFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail, type Failure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { promotionConflict, lockUnendedPromotion } from "./promotion-status.ts";
import { promotionBounds as bounds } from "./promotion-fields.ts";
import { promotionCodeLengthMax, normalizePromotionCode } from "./choose-promotions.ts";
import type { PromotionCodeRow } from "./read-promotions.ts";

/** Either `count`, with what belongs to drawing, or `codes`. */
export interface PromotionCodesGenerateInput {
  readonly promotionId: string;
  readonly count?: number | null | undefined;
  /** Stands before each of those drawn. */
  readonly prefix?: string | null | undefined;
  /** Of those drawn, without the prefix. */
  readonly length?: number | null | undefined;
  readonly codes?: readonly string[] | null | undefined;
  /** Orders that may have the code; null: as many as the promotion's own limit lets through. */
  readonly usageLimit?: number | null | undefined;
}

export interface PromotionCodesResult {
  readonly promotionId: string;
  readonly codes: readonly PromotionCodeRow[];
}

/** No two that look alike in print or by hand, and no vowels, so that no words come about. */
const codeAlphabet = "3479CDFGHJKMNPQRTWXY";
/** That this many draws in a row are taken does not happen by chance. */
const drawRoundsMax = 10;

export async function generatePromotionCodes(
  transaction: Transaction,
  context: CommandContext,
  input: PromotionCodesGenerateInput,
): Promise<PromotionCodesResult> {
  requireNoFaults(generateFaults(input));
  const promotion = await lockUnendedPromotion(transaction, context, { promotionId: input.promotionId });
  if (promotion.trigger !== "code")
    throw fail("invalid_state", { conflict: promotionConflict(promotion, "promotion_is_automatic") });
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

function generateFaults({ count, prefix, length, codes, usageLimit }: PromotionCodesGenerateInput): Faults {
  return [
    ...codeSourceFaults({ count, prefix, length, codes }),
    ...integerFaults("/count", count, { min: 1, max: bounds.codesMax }),
    ...integerFaults("/length", length, { min: bounds.drawnLengthMin, max: bounds.drawnLengthMax }),
    ...prefixFaults(prefix),
    ...codesFaults(codes ?? undefined),
    ...integerFaults("/usageLimit", usageLimit, { min: 1, max: bounds.limitMax }),
  ];
}

function codeSourceFaults({
  count,
  prefix,
  length,
  codes,
}: Omit<PromotionCodesGenerateInput, "promotionId" | "usageLimit">): Faults {
  const isGiven = codes !== null && codes !== undefined;
  if (!isGiven)
    return count === null || count === undefined
      ? [faultAt("/count", "required", "Either count or codes is needed.")]
      : [];
  return Object.entries({ count, prefix, length }).flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [faultAt(`/${name}`, "not_allowed", "It has no place beside codes.")],
  );
}

/** A prefix is a code itself, so that whatever is drawn behind it makes one. */
function prefixFaults(prefix: string | null | undefined): Faults {
  if (prefix === null || prefix === undefined) return [];
  const normalized = prefix.trim() === prefix ? normalizePromotionCode(prefix) : undefined;
  if (
    normalized !== undefined &&
    Math.max(Array.from(prefix).length, Array.from(normalized).length) <= bounds.prefixMax
  )
    return [];
  return [
    faultAt(
      "/prefix",
      "pattern_mismatch",
      `It must have 1–${bounds.prefixMax} letters, digits, - or _, and begin with a letter or digit.`,
    ),
  ];
}

function codesFaults(codes: readonly string[] | undefined): Faults {
  if (codes === undefined) return [];
  const seen = new Set<string>();
  const faults = codes.flatMap((code, index) => {
    const field = `/codes/${index}`;
    const normalized = normalizePromotionCode(code);
    if (normalized === undefined || Array.from(code.trim()).length > promotionCodeLengthMax) {
      return [
        faultAt(
          field,
          "pattern_mismatch",
          `A code has 1–${promotionCodeLengthMax} letters, digits, - or _, and begins with a letter or digit.`,
        ),
      ];
    }
    if (seen.has(normalized)) return [faultAt(field, "duplicate", "It stands there twice.")];
    seen.add(normalized);
    return [];
  });
  return [...countFaults("/codes", codes, { min: 1, max: bounds.codesMax }), ...faults];
}

function drawCode({ prefix, length }: Pick<PromotionCodesGenerateInput, "prefix" | "length">): string {
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
  context: CommandContext,
  { count, draw, ...batch }: CodeBatch & { readonly count: number; readonly draw: () => string },
): Promise<PromotionCodeRow[]> {
  const saved: PromotionCodeRow[] = [];
  for (let round = 0; saved.length < count; round += 1) {
    if (round === drawRoundsMax) throw new Error(`Only ${saved.length} of ${count} codes could be drawn.`);
    const texts = Array.from({ length: count - saved.length }, draw);
    saved.push(...(await insertCodes(transaction, context, { ...batch, texts })));
  }
  return saved;
}

async function saveMerchantCodes(
  transaction: Transaction,
  context: CommandContext,
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
    faultAt(`/codes/${index}`, "already_exists", `The merchant has the code ${code} already.`),
  );
  return fail("already_exists", {
    message: details[0]?.message ?? "The merchant has the code already.",
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
 * Leaves out what is taken. In the order of what they are found by, so that two that insert the same ones do
 * not wait for each other in a circle.
 */
async function insertCodes(
  transaction: Transaction,
  context: CommandContext,
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
    select id, ${context.merchantId}, ${promotionId}, code, "codeNormalized", ${usageLimit}::int, ${context.now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(id text, code text, "codeNormalized" text)
    on conflict (merchant_id, code_normalized) do nothing
    returning *`.execute(transaction);
  return inserted.rows;
}
