/**
 * The rules of policies, by which eligibility is decided: their types, the defaults of rules that a merchant
 * leaves out, and the legal minimum in each country.
 */

/** How a buyer's request is handled: granted at once, decided by the merchant, or not possible. */
export type PolicyMode = "immediate" | "request" | "none";

export interface CancellationRules {
  readonly mode: PolicyMode;
  /**
   * Length of the cancellation window in minutes, counted from the time of the order; null if the window ends
   * when packing begins.
   */
  readonly windowMinutes: number | null;
  readonly afterWindow: "request" | "deny";
}

export type ReturnMethod = "mail" | "store" | "pickup" | "keep_item";

export interface ReturnRules {
  readonly mode: PolicyMode;
  /**
   * Length of the return window in days after delivery; the last day ends at midnight in the market's time
   * zone. Null if there is no time limit.
   */
  readonly windowDays: number | null;
  /** Days after delivery in which an exchange is possible; null if the merchant offers no exchanges. */
  readonly exchangeWindowDays: number | null;
  readonly methods: readonly ReturnMethod[];
  /** Restocking fee in basis points of the refunded amount. */
  readonly restockingBasisPoints: number;
  /**
   * Return shipping fee deducted from the refund, in minor units of the market's currency; 0 if the merchant
   * pays.
   */
  readonly returnShippingMinor: number;
  /**
   * Goods worth up to this amount (in minor units) are refunded without being sent back; null if goods are
   * always sent back.
   */
  readonly keepItemMinor: number | null;
  /**
   * A date in the form `YYYY-MM-DD`. Buyers can return goods at least until the end of this day, even if the
   * normal return window ends earlier.
   */
  readonly extendUntil: string | null;
  readonly excludedCategoryIds: readonly string[];
  /** Countries from which nothing can be returned. */
  readonly excludedCountries: readonly string[];
  /** Maximum number of returns per buyer in 365 days; null if there is no maximum. */
  readonly returnsPerBuyerMax: number | null;
  readonly storeCredit: boolean;
  readonly photoRequired: boolean;
}

export interface WithdrawalRules {
  /**
   * Length of the withdrawal window in days after the delivery of the last line; 0 if the merchant grants no
   * right of withdrawal beyond the law.
   */
  readonly windowDays: number;
}

export interface WarrantyRules {
  /** Length of the warranty in months after delivery; 0 if the merchant grants no warranty beyond the law. */
  readonly months: number;
  readonly repairs: number;
  readonly replacements: number;
}

/**
 * The complete rules of one policy, as an order stores them. The type of the policy decides which of the four
 * kinds of rules it is.
 */
export type PolicyRules = CancellationRules | ReturnRules | WithdrawalRules | WarrantyRules;

export interface PolicyRulesByType {
  readonly cancellation: CancellationRules;
  readonly return: ReturnRules;
  readonly withdrawal: WithdrawalRules;
  readonly warranty: WarrantyRules;
}

export type PolicyRulesType = keyof PolicyRulesByType;

/** Rules as stored in a policy: rules that the merchant left out are absent. */
export type StoredPolicyRules<Type extends PolicyRulesType = PolicyRulesType> = Partial<
  PolicyRulesByType[Type]
>;

/**
 * Member states of the European Union
 * (https://european-union.europa.eu/principles-countries-history/eu-countries_en). The European Economic Area
 * adds Iceland, Liechtenstein and Norway (https://www.efta.int/eea).
 */
const europeanUnion = new Set(
  "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" "),
);
const economicArea = new Set([...europeanUnion, "IS", "LI", "NO"]);

/** Returns true if the legal guarantee of Directive (EU) 2019/771 applies in the country. */
export const isInEuropeanUnion = (country: string): boolean => europeanUnion.has(country);

/** Returns true if the right of withdrawal of Directive 2011/83/EU applies in the country. */
const isInEconomicArea = (country: string): boolean => economicArea.has(country);

/** Minimum withdrawal period by Directive 2011/83/EU, article 9; a merchant may grant more. */
const withdrawalDaysMin = 14;
/** Minimum guarantee by Directive (EU) 2019/771, article 10; a merchant may grant more. */
export const guaranteeMonthsMin = 24;
const remediesDefault = 1;

export const defaultPolicyRules: PolicyRulesByType = {
  cancellation: { mode: "immediate", windowMinutes: 60, afterWindow: "request" },
  return: {
    mode: "immediate",
    windowDays: 30,
    exchangeWindowDays: 30,
    methods: ["mail"],
    restockingBasisPoints: 0,
    returnShippingMinor: 0,
    keepItemMinor: null,
    extendUntil: null,
    excludedCategoryIds: [],
    excludedCountries: [],
    returnsPerBuyerMax: null,
    storeCredit: false,
    photoRequired: false,
  },
  withdrawal: { windowDays: 0 },
  warranty: { months: 0, repairs: remediesDefault, replacements: remediesDefault },
};

/**
 * Returns the complete rules of a policy for a buyer in a country. Defaults replace the rules that the
 * merchant left out, and no rule gives the buyer less than the legal minimum.
 */
export function fillPolicyRuleDefaults<Type extends PolicyRulesType>(
  type: Type,
  stored: StoredPolicyRules<Type>,
  { country }: { readonly country: string },
): PolicyRulesByType[Type] {
  return applyLegalMinimum(
    { ...defaultPolicyRules, [type]: { ...defaultPolicyRules[type], ...stored } },
    country,
  )[type];
}

function applyLegalMinimum(rules: PolicyRulesByType, country: string): PolicyRulesByType {
  const { withdrawal, warranty } = rules;
  const windowDays = isInEconomicArea(country)
    ? Math.max(withdrawalDaysMin, withdrawal.windowDays)
    : withdrawal.windowDays;
  const months = isInEuropeanUnion(country) ? Math.max(guaranteeMonthsMin, warranty.months) : warranty.months;
  return { ...rules, withdrawal: { windowDays }, warranty: { ...warranty, months } };
}
