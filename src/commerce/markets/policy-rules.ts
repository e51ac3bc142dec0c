/**
 * The rules of a policy, by which eligibility is decided: their types, the defaults for what a merchant
 * leaves out, and the minimum that the law of a country requires.
 */

/** How somebody who asks is answered: at once, by the merchant, or never. */
export type SelfService = "immediate" | "request" | "none";

export interface CancellationRules {
  readonly mode: SelfService;
  /** From the order on; null: until packing begins. */
  readonly windowMinutes: number | null;
  readonly afterWindow: "request" | "deny";
}

export type ReturnMethod = "mail" | "store" | "pickup" | "keep_item";

export interface ReturnRules {
  readonly mode: SelfService;
  /** From delivery on, to the end of the day in the market's time zone; null: for ever. */
  readonly windowDays: number | null;
  /** Null: no exchanges. */
  readonly exchangeWindowDays: number | null;
  readonly methods: readonly ReturnMethod[];
  /** Of what is refunded. */
  readonly restockingBasisPoints: number;
  /** Taken off what is refunded, in the market's currency; 0: the merchant pays. */
  readonly returnShippingMinor: number;
  /** Up to this much is refunded without the thing coming back; null: never. */
  readonly keepItemMinor: number | null;
  /** `YYYY-MM-DD`: no window ends before the end of this day. */
  readonly extendUntil: string | null;
  readonly excludedCategoryIds: readonly string[];
  /** Countries that nothing comes back from. */
  readonly excludedCountries: readonly string[];
  /** Returns of one buyer in 365 days; null: any number. */
  readonly returnsPerBuyerMax: number | null;
  readonly storeCredit: boolean;
  readonly photoRequired: boolean;
}

export interface WithdrawalRules {
  /** From the delivery of the last line on; 0: none (outside of the EEA nothing else is asked for). */
  readonly windowDays: number;
}

export interface WarrantyRules {
  /** From delivery on; 0: none. */
  readonly months: number;
  readonly repairs: number;
  readonly replacements: number;
}

/** As it stands in a snapshot: complete, and told apart by its policy's type. */
export type PolicyRules = CancellationRules | ReturnRules | WithdrawalRules | WarrantyRules;

export interface RulesByType {
  readonly cancellation: CancellationRules;
  readonly return: ReturnRules;
  readonly withdrawal: WithdrawalRules;
  readonly warranty: WarrantyRules;
}

export type RuledType = keyof RulesByType;

/** As a policy keeps them: what was left out is not there. */
export type StoredRules<Type extends RuledType = RuledType> = Partial<RulesByType[Type]>;

/**
 * Where the consumer law of the European Union holds. Members as the Union lists them
 * (https://european-union.europa.eu/principles-countries-history/eu-countries_en); the European Economic Area
 * adds Iceland, Liechtenstein and Norway (https://www.efta.int/eea).
 */
const europeanUnion = new Set(
  "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" "),
);
const economicArea = new Set([...europeanUnion, "IS", "LI", "NO"]);

/** The legal guarantee of Directive (EU) 2019/771. */
export const isInUnion = (country: string): boolean => europeanUnion.has(country);

/** The right of withdrawal of Directive 2011/83/EU. */
const isInEconomicArea = (country: string): boolean => economicArea.has(country);

/** By Directive 2011/83/EU, article 9; a merchant may give more. */
const withdrawalDaysMin = 14;
/** By Directive (EU) 2019/771, article 10; a merchant may give more. */
export const guaranteeMonthsMin = 24;
const remediesDefault = 1;

export const defaultRules: RulesByType = {
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
 * What a policy says for a buyer of a country: its own words, else the defaults, and nowhere less than the
 * law gives.
 */
export function completeRules<Type extends RuledType>(
  type: Type,
  stored: StoredRules<Type>,
  { country }: { readonly country: string },
): RulesByType[Type] {
  return atLeastTheLaw({ ...defaultRules, [type]: { ...defaultRules[type], ...stored } }, country)[type];
}

function atLeastTheLaw(rules: RulesByType, country: string): RulesByType {
  const { withdrawal, warranty } = rules;
  const windowDays = isInEconomicArea(country)
    ? Math.max(withdrawalDaysMin, withdrawal.windowDays)
    : withdrawal.windowDays;
  const months = isInUnion(country) ? Math.max(guaranteeMonthsMin, warranty.months) : warranty.months;
  return { ...rules, withdrawal: { windowDays }, warranty: { ...warranty, months } };
}
