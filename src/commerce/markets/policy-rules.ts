/**
 * Defines the rules of policies, which decide what a buyer can request. Contains the types of the rules, the
 * defaults of rules that a merchant leaves out, and the legal minimum in each country.
 */

/**
 * How a buyer's request is decided: approved at once (immediate), decided by the merchant (request), or not
 * possible (none).
 */
export type BuyerRequestApprovalMode = "immediate" | "request" | "none";

export interface CancellationRules {
  readonly mode: BuyerRequestApprovalMode;
  /**
   * Time in which a buyer can cancel, in minutes from the time of the order; null if this time ends when
   * packing begins.
   */
  readonly windowMinutes: number | null;
  readonly afterWindow: "request" | "deny";
}

export type ReturnMethod = "mail" | "store" | "pickup" | "keep_item";

export interface ReturnRules {
  readonly mode: BuyerRequestApprovalMode;
  /**
   * Length of the return window in days after delivery. The window ends at the end of its last day in the
   * market's time zone. Null if there is no time limit.
   */
  readonly windowDays: number | null;
  /**
   * Number of days after delivery in which the buyer can request an exchange; null if the merchant offers no
   * exchanges.
   */
  readonly exchangeWindowDays: number | null;
  readonly methods: readonly ReturnMethod[];
  /** Restocking fee, which is deducted from the refund, in basis points of the value of the returned units. */
  readonly restockingBasisPoints: number;
  /**
   * Return shipping fee, which is deducted from the refund, in minor units of the market's currency; 0 if the
   * merchant pays the return shipping.
   */
  readonly returnShippingMinor: number;
  /**
   * Highest refund for which the buyer may keep the goods, in minor units; null if goods must always be sent
   * back.
   */
  readonly keepItemMinor: number | null;
  /**
   * Earliest end of the return window, as a date in the form `YYYY-MM-DD`: buyers can return goods at least
   * until the end of this day. Null if the merchant names no such day.
   */
  readonly extendUntil: string | null;
  readonly excludedCategoryIds: readonly string[];
  /** Countries in which buyers cannot return goods. */
  readonly excludedCountries: readonly string[];
  /** Maximum number of returns of one buyer in 365 days; null if there is no maximum. */
  readonly returnsPerBuyerMax: number | null;
  readonly photoRequired: boolean;
}

export interface WithdrawalRules {
  /**
   * Length of the withdrawal window in days after the delivery of the order's last line; 0 if the merchant
   * grants no more than the law requires.
   */
  readonly windowDays: number;
}

export interface WarrantyRules {
  /** Length of the warranty in months after delivery; 0 if the merchant grants no more than the law requires. */
  readonly months: number;
  readonly repairs: number;
  readonly replacements: number;
}

/** The complete rules of a policy of any type, as an order stores them. */
export type MerchantPolicyRules = CancellationRules | ReturnRules | WithdrawalRules | WarrantyRules;

export interface PolicyRulesByType {
  readonly cancellation: CancellationRules;
  readonly return: ReturnRules;
  readonly withdrawal: WithdrawalRules;
  readonly warranty: WarrantyRules;
}

export type PolicyTypeWithRules = keyof PolicyRulesByType;

/** The rules of a policy as they are stored: only the rules that the merchant has set. */
export type StoredPolicyRules<Type extends PolicyTypeWithRules = PolicyTypeWithRules> = Partial<
  PolicyRulesByType[Type]
>;

/**
 * Member states of the European Union
 * (https://european-union.europa.eu/principles-countries-history/eu-countries_en). The European Economic Area
 * consists of these countries and Iceland, Liechtenstein and Norway (https://www.efta.int/eea).
 */
const europeanUnion = new Set(
  "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" "),
);
const economicArea = new Set([...europeanUnion, "IS", "LI", "NO"]);

/** Returns true if the statutory guarantee of Directive (EU) 2019/771 is valid in the country. */
export const isEuropeanUnionCountry = (country: string): boolean => europeanUnion.has(country);

/** Returns true if the right of withdrawal of Directive 2011/83/EU is valid in the country. */
const isInEconomicArea = (country: string): boolean => economicArea.has(country);

/** Minimum length of the withdrawal period by Directive 2011/83/EU, article 9, in days. */
const withdrawalDaysMin = 14;
/** Minimum length of the statutory guarantee by Directive (EU) 2019/771, article 10, in months. */
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
    photoRequired: false,
  },
  withdrawal: { windowDays: 0 },
  warranty: { months: 0, repairs: remediesDefault, replacements: remediesDefault },
};

/**
 * Returns the complete rules of a policy for a buyer in a country. Rules that the merchant left out get their
 * default values. Rules below the legal minimum of the country are raised to the minimum.
 */
export function completePolicyRulesWithDefaults<Type extends PolicyTypeWithRules>(
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
  const months = isEuropeanUnionCountry(country)
    ? Math.max(guaranteeMonthsMin, warranty.months)
    : warranty.months;
  return { ...rules, withdrawal: { windowDays }, warranty: { ...warranty, months } };
}
