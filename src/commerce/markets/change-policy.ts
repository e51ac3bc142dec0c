/**
 * Creates and changes a merchant's policies on cancellations, returns, withdrawals and warranty: a policy for
 * all markets, and optionally a policy for a single market. Every change raises the policy's version, because
 * orders keep the version that was valid when they were placed. Rules that are left out get their default
 * values.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import {
  isHttpsUrl,
  findLocalizedTextFaults,
  type LocalizedTextInput,
  toLocalizedTextMap,
} from "#commerce/catalog/catalog-fields.ts";
import {
  getDisallowedValueErrors,
  getListLengthErrors,
  getCountryFieldErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getListLengthAndDuplicateErrors,
  type IntegerFieldRule,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { lockMerchantCatalog, incrementCatalogVersion } from "#commerce/catalog/change-catalog.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { type MerchantCommandContext, requireExpectedVersion } from "#commerce/command-context.ts";
import { createFailure } from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import { requireMarket } from "./change-market.ts";
import type {
  ReturnRules,
  PolicyTypeWithRules,
  PolicyRulesByType,
  StoredPolicyRules,
} from "./policy-rules.ts";

export const policyTypes = ["cancellation", "return", "withdrawal", "warranty"] as const;
export type PolicyType = (typeof policyTypes)[number];

export interface UpsertMerchantPolicyInput {
  /**
   * The market for which the policy is valid. If null or left out, the policy is valid in all markets that
   * have no own policy of this type.
   */
  readonly marketId?: string | null | undefined;
  readonly type: PolicyType;
  readonly expectedVersion?: number | null | undefined;
  readonly summaries: readonly LocalizedTextInput[];
  readonly url?: string | null | undefined;
  /** Rules of the policy, for example the return period. Rules that are left out get their default values. */
  readonly rules?: PolicyRulesInput | null | undefined;
}

const summaryMax = 1000;

export async function upsertMerchantPolicy(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpsertMerchantPolicyInput,
): Promise<{ policyId: string }> {
  requireNoInputFieldErrors(policyFaults(input));
  await lockMerchantCatalog(transaction, context);
  const marketId = input.marketId ?? null;
  if (marketId !== null) await requireMarket(transaction, context, marketId);
  await requireKnownCategories(transaction, context, input.rules ?? {});
  const existing = await transaction
    .selectFrom("policy")
    .select(["id", "version"])
    .where("merchantId", "=", context.merchantId)
    .where("type", "=", input.type)
    .where(sql<boolean>`market_id is not distinct from ${marketId}`)
    .executeTakeFirst();
  if (existing !== undefined) {
    const { id, version } = existing;
    requireExpectedVersion(
      { resource: "policy", id, currentStatus: null, currentVersion: version, reason: null, data: {} },
      input.expectedVersion,
    );
  }
  const policyId = existing?.id ?? createId("policy", context.now.getTime());
  if (await savePolicy(transaction, context, { ...input, policyId, marketId }))
    await incrementCatalogVersion(transaction, context);
  return { policyId };
}

/** Saves the policy of a merchant. Returns true if any value of the policy has changed. */
async function savePolicy(
  transaction: Transaction,
  { merchantId, now }: MerchantCommandContext,
  {
    policyId,
    marketId,
    type,
    summaries,
    url,
    rules,
  }: UpsertMerchantPolicyInput & { readonly policyId: string; readonly marketId: string | null },
): Promise<boolean> {
  const texts = JSON.stringify(toLocalizedTextMap(summaries));
  const stored = JSON.stringify(toStoredRules({ type, rules: rules ?? {} }));
  const { rows } = await sql`
    insert into policy as p (id, merchant_id, market_id, type, summaries, url, rules, updated_at)
    values (${policyId}, ${merchantId}, ${marketId}, ${type}, ${texts}::jsonb, ${url ?? null},
    ${stored}::jsonb, ${now})
    on conflict (id) do update set summaries = excluded.summaries, url = excluded.url, rules = excluded.rules,
    version = p.version + 1,
      updated_at = excluded.updated_at
    where (p.summaries, p.url, p.rules) is distinct from (excluded.summaries, excluded.url, excluded.rules)
    returning id`.execute(transaction);
  return rows.length > 0;
}

function policyFaults({
  type,
  marketId,
  summaries,
  url,
  rules,
}: UpsertMerchantPolicyInput): InputFieldErrors {
  return [
    ...getDisallowedValueErrors("/type", type, { allowed: policyTypes, noun: "type" }),
    ...findLocalizedTextFaults("/summaries", summaries, { max: summaryMax, lines: "many" }),
    ...(url === null || url === undefined || isHttpsUrl(url)
      ? []
      : [
          createRequestBodyErrorDetail(
            "/url",
            "pattern_mismatch",
            "The URL must be an https URL without credentials.",
          ),
        ]),
    ...ruleFaults({ type, marketId: marketId ?? null, rules: rules ?? {} }),
  ];
}

/**
 * Rules of a policy as a merchant enters them. A rule that is null or left out is not set. For the rules
 * listed in `nullable`, null is a value and not the same as leaving the rule out.
 */
type PartialRules<Rules> = { readonly [Key in keyof Rules]?: Rules[Key] | null | undefined };

/**
 * The rules of a policy, in a group named after the policy type. The groups of other policy types must be
 * left out.
 */
type PolicyRulesInput = {
  readonly [Type in PolicyTypeWithRules]?: PartialRules<PolicyRulesByType[Type]> | null | undefined;
};

const ruleBounds = {
  windowMinutes: { min: 1, max: 43_200 },
  windowDays: { min: 1, max: 3650 },
  restockingBasisPoints: { min: 0, max: 10_000 },
  keepItemMinor: { min: 1, max: amountMinorMax },
  returnShippingMinor: { min: 0, max: amountMinorMax },
  excludedCategories: { min: 0, max: 100 },
  excludedCountries: { min: 0, max: 249 },
  returnsPerBuyer: { min: 1, max: 1000 },
  methods: { min: 1, max: 4 },
  withdrawalDays: { min: 0, max: 365 },
  warrantyMonths: { min: 0, max: 240 },
  remedies: { min: 0, max: 1000 },
} as const satisfies Readonly<Record<string, IntegerFieldRule>>;

interface RulesToCheck {
  readonly type: PolicyTypeWithRules;
  readonly marketId: string | null;
  readonly rules: PolicyRulesInput;
}

function ruleFaults({ type, marketId, rules }: RulesToCheck): InputFieldErrors {
  const groups = ["cancellation", "return", "withdrawal", "warranty"] as const;
  const foreign = groups.filter((group) => group !== type && isPresent(rules[group]));
  return [
    ...foreign.map((group) =>
      createRequestBodyErrorDetail(
        `/rules/${group}`,
        "not_allowed",
        `A policy of type ${type} has no rules of type ${group}.`,
      ),
    ),
    ...getIntegerFieldErrors(
      "/rules/cancellation/windowMinutes",
      rules.cancellation?.windowMinutes,
      ruleBounds.windowMinutes,
    ),
    ...returnFaults(rules.return ?? {}, marketId),
    ...getIntegerFieldErrors(
      "/rules/withdrawal/windowDays",
      rules.withdrawal?.windowDays,
      ruleBounds.withdrawalDays,
    ),
    ...getIntegerFieldErrors("/rules/warranty/months", rules.warranty?.months, ruleBounds.warrantyMonths),
    ...getIntegerFieldErrors("/rules/warranty/repairs", rules.warranty?.repairs, ruleBounds.remedies),
    ...getIntegerFieldErrors(
      "/rules/warranty/replacements",
      rules.warranty?.replacements,
      ruleBounds.remedies,
    ),
  ];
}

const at = (name: keyof ReturnRules): string => `/rules/return/${name}`;

function returnFaults(rules: PartialRules<ReturnRules>, marketId: string | null): InputFieldErrors {
  const { methods, extendUntil } = rules;
  return [
    ...getIntegerFieldErrors(at("windowDays"), rules.windowDays, ruleBounds.windowDays),
    ...getIntegerFieldErrors(at("exchangeWindowDays"), rules.exchangeWindowDays, ruleBounds.windowDays),
    ...getIntegerFieldErrors(
      at("restockingBasisPoints"),
      rules.restockingBasisPoints,
      ruleBounds.restockingBasisPoints,
    ),
    ...getIntegerFieldErrors(
      at("returnShippingMinor"),
      rules.returnShippingMinor,
      ruleBounds.returnShippingMinor,
    ),
    ...getIntegerFieldErrors(at("keepItemMinor"), rules.keepItemMinor, ruleBounds.keepItemMinor),
    ...getIntegerFieldErrors(at("returnsPerBuyerMax"), rules.returnsPerBuyerMax, ruleBounds.returnsPerBuyer),
    ...(methods === null || methods === undefined
      ? []
      : getListLengthErrors(at("methods"), methods, ruleBounds.methods)),
    ...getDuplicateEntryErrors(methods ?? [], (index) => `${at("methods")}/${index}`),
    ...(extendUntil === null || extendUntil === undefined || isDay(extendUntil)
      ? []
      : [
          createRequestBodyErrorDetail(
            at("extendUntil"),
            "invalid_format",
            "extendUntil must be a date, YYYY-MM-DD.",
          ),
        ]),
    ...excludedFaults(rules),
    ...(marketId === null ? amountFaults(rules) : []),
  ];
}

function excludedFaults({
  excludedCategoryIds,
  excludedCountries,
}: PartialRules<ReturnRules>): InputFieldErrors {
  const countries = excludedCountries ?? [];
  return [
    ...getListLengthAndDuplicateErrors(
      at("excludedCategoryIds"),
      excludedCategoryIds,
      ruleBounds.excludedCategories.max,
    ),
    ...getListLengthErrors(at("excludedCountries"), countries, ruleBounds.excludedCountries),
    ...countries.flatMap((country, index) =>
      getCountryFieldErrors(`${at("excludedCountries")}/${index}`, country),
    ),
    ...getDuplicateEntryErrors(countries, (index) => `${at("excludedCountries")}/${index}`),
  ];
}

/**
 * Returns a fault if a policy without a market contains amounts. Amounts are in the currency of the policy's
 * market, so the currency would be unknown.
 */
function amountFaults(rules: PartialRules<ReturnRules>): InputFieldErrors {
  return (["returnShippingMinor", "keepItemMinor"] as const).flatMap((name) =>
    (rules[name] ?? 0) === 0
      ? []
      : [
          createRequestBodyErrorDetail(
            at(name),
            "market_required",
            "An amount requires marketId, because it is in the currency of the market.",
          ),
        ],
  );
}

const isPresent = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Policy rules for which null is a value: no time limit, no exchanges or no maximum. */
const nullable: ReadonlySet<string> = new Set([
  "cancellation.windowMinutes",
  "return.windowDays",
  "return.exchangeWindowDays",
  "return.keepItemMinor",
  "return.extendUntil",
  "return.returnsPerBuyerMax",
]);

/** Returns the policy rules to store, without the rules that the merchant left out. */
function toStoredRules({ type, rules }: Pick<RulesToCheck, "type" | "rules">): StoredPolicyRules {
  const givenRules = Object.entries(rules[type] ?? {}).filter(
    ([name, value]) => isPresent(value) || (value === null && nullable.has(`${type}.${name}`)),
  );
  return Object.fromEntries(givenRules);
}

/** Throws if a category that the policy excludes from returns does not belong to the merchant. */
async function requireKnownCategories(
  transaction: Transaction,
  { merchantId }: MerchantCommandContext,
  rules: PolicyRulesInput,
): Promise<void> {
  const ids = rules.return?.excludedCategoryIds ?? [];
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select id from category where merchant_id = ${merchantId}
    and id = any(${ids.map(blankIdWithForbiddenCharacters)}::text[])`.execute(transaction);
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.flatMap((id, index) =>
    found.has(id)
      ? []
      : [
          createRequestBodyErrorDetail(
            `/rules/return/excludedCategoryIds/${index}`,
            "resource_not_found",
            "The merchant has no category with this ID.",
          ),
        ],
  );
  const [first] = missing;
  if (first !== undefined)
    throw createFailure("resource_not_found", { message: first.message, details: missing });
}
