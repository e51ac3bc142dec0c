/** What a merchant may say in a policy's rules, and what becomes of it in store: what is left out keeps its default. */
import { sql } from "kysely";
import { countFaults, countryFaults, faultAt, type Faults, integerFaults, type NumberRule, repeatFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { toId } from "#foundation/ids.ts";
import type { ReturnRules, RuledType, RulesByType, StoredRules } from "./policy-rules.ts";

/** As it is written: left out or null is not said, but where null has a meaning of its own. */
type Given<Rules> = { readonly [Key in keyof Rules]?: Rules[Key] | null | undefined };

/** One group, that of the policy's own type. */
export type PolicyRulesInput = { readonly [Type in RuledType]?: Given<RulesByType[Type]> | null | undefined };

export const ruleBounds = {
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
} as const satisfies Readonly<Record<string, NumberRule>>;

export interface RulesToCheck {
  readonly type: RuledType;
  readonly marketId: string | null;
  readonly rules: PolicyRulesInput;
}

export function ruleFaults({ type, marketId, rules }: RulesToCheck): Faults {
  const groups = ["cancellation", "return", "withdrawal", "warranty"] as const;
  const foreign = groups.filter((group) => group !== type && isSaid(rules[group]));
  return [
    ...foreign.map((group) => faultAt(`/rules/${group}`, "not_allowed", `A policy of type ${type} has no rules of type ${group}.`)),
    ...integerFaults("/rules/cancellation/windowMinutes", rules.cancellation?.windowMinutes, ruleBounds.windowMinutes),
    ...returnFaults(rules.return ?? {}, marketId),
    ...integerFaults("/rules/withdrawal/windowDays", rules.withdrawal?.windowDays, ruleBounds.withdrawalDays),
    ...integerFaults("/rules/warranty/months", rules.warranty?.months, ruleBounds.warrantyMonths),
    ...integerFaults("/rules/warranty/repairs", rules.warranty?.repairs, ruleBounds.remedies),
    ...integerFaults("/rules/warranty/replacements", rules.warranty?.replacements, ruleBounds.remedies),
  ];
}

const at = (name: keyof ReturnRules): string => `/rules/return/${name}`;

function returnFaults(rules: Given<ReturnRules>, marketId: string | null): Faults {
  const { methods, extendUntil } = rules;
  return [
    ...integerFaults(at("windowDays"), rules.windowDays, ruleBounds.windowDays),
    ...integerFaults(at("exchangeWindowDays"), rules.exchangeWindowDays, ruleBounds.windowDays),
    ...integerFaults(at("restockingBasisPoints"), rules.restockingBasisPoints, ruleBounds.restockingBasisPoints),
    ...integerFaults(at("returnShippingMinor"), rules.returnShippingMinor, ruleBounds.returnShippingMinor),
    ...integerFaults(at("keepItemMinor"), rules.keepItemMinor, ruleBounds.keepItemMinor),
    ...integerFaults(at("returnsPerBuyerMax"), rules.returnsPerBuyerMax, ruleBounds.returnsPerBuyer),
    ...(methods === null || methods === undefined ? [] : countFaults(at("methods"), methods, ruleBounds.methods)),
    ...repeatFaults(methods ?? [], (index) => `${at("methods")}/${index}`),
    ...(extendUntil === null || extendUntil === undefined || isDay(extendUntil)
      ? []
      : [faultAt(at("extendUntil"), "invalid_format", "It must be a day, YYYY-MM-DD.")]),
    ...listFaults(rules),
    ...(marketId === null ? amountFaults(rules) : []),
  ];
}

function listFaults({ excludedCategoryIds, excludedCountries }: Given<ReturnRules>): Faults {
  const [categories, countries] = [excludedCategoryIds ?? [], excludedCountries ?? []];
  return [
    ...countFaults(at("excludedCategoryIds"), categories, ruleBounds.excludedCategories),
    ...repeatFaults(categories, (index) => `${at("excludedCategoryIds")}/${index}`),
    ...countFaults(at("excludedCountries"), countries, ruleBounds.excludedCountries),
    ...countries.flatMap((country, index) => countryFaults(`${at("excludedCountries")}/${index}`, country)),
    ...repeatFaults(countries, (index) => `${at("excludedCountries")}/${index}`),
  ];
}

/** Amounts are in the currency of a market. */
function amountFaults(rules: Given<ReturnRules>): Faults {
  return (["returnShippingMinor", "keepItemMinor"] as const).flatMap((name) =>
    (rules[name] ?? 0) === 0 ? [] : [faultAt(at(name), "market_required", "An amount needs the market whose currency it is in.")],
  );
}

const isSaid = <Value>(value: Value | null | undefined): value is Value => value !== null && value !== undefined;

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Where null is a rule: no end, none, any number. */
const nullable: ReadonlySet<string> = new Set([
  "cancellation.windowMinutes",
  "return.windowDays",
  "return.exchangeWindowDays",
  "return.keepItemMinor",
  "return.extendUntil",
  "return.returnsPerBuyerMax",
]);

/** Of what is without faults: what was said and nothing else. */
export function toStoredRules({ type, rules }: Pick<RulesToCheck, "type" | "rules">): StoredRules {
  const said = Object.entries(rules[type] ?? {}).filter(([name, value]) => isSaid(value) || (value === null && nullable.has(`${type}.${name}`)));
  return Object.fromEntries(said);
}

/** What is not taken back must be a category of the merchant. */
export async function requireOwnCategories(transaction: Transaction, { merchantId }: CommandContext, rules: PolicyRulesInput): Promise<void> {
  const ids = rules.return?.excludedCategoryIds ?? [];
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select id from category where merchant_id = ${merchantId} and id = any(${ids.map(toId)}::text[])`.execute(transaction);
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids.flatMap((id, index) =>
    found.has(id) ? [] : [faultAt(`/rules/return/excludedCategoryIds/${index}`, "resource_not_found", "There is no such category.")],
  );
  const [first] = missing;
  if (first !== undefined) throw fail("resource_not_found", { message: first.message, details: missing });
}
