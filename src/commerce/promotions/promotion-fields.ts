/**
 * The fields of a promotion, their limits and their checks. `findPromotionFieldFaults` checks each field
 * separately. `findPromotionRuleFaults` checks the fields together, because kind, currency and time window
 * depend on each other.
 */
import {
  findLocalizedTextFaults,
  type LocalizedTextInput,
  toLocalizedTextMap,
} from "#commerce/catalog/catalog-fields.ts";
import {
  getCurrencyFieldErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getListLengthAndDuplicateErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { amountMinorMax } from "#foundation/money.ts";
import type { PromotionKind } from "./promotion-rule.ts";

/**
 * Limits of a promotion's fields, for example the maximum number of markets. The descriptions in the GraphQL
 * schema use the same constants.
 */
export const promotionFieldBounds = {
  /** Maximum number of active automatic promotions of one merchant. */
  activeAutomaticMax: 50,
  basisPointsMax: 10_000,
  buyerReferenceLengthMax: 128,
  buyerReferencesMax: 1000,
  categoriesMax: 100,
  codesMax: 1000,
  /**
   * Default length of a random promotion code, without the prefix. Even a length of 8 characters allows 25
   * 600 000 000 codes.
   */
  drawnLengthDefault: 12,
  drawnLengthMax: 32,
  drawnLengthMin: 8,
  limitMax: 2_147_483_647,
  marketsMax: 100,
  minimumQuantityMax: 1_999_800,
  prefixMax: 20,
  priorityMax: 1000,
  productsMax: 500,
  quantityMax: 9999,
  titleMax: 200,
} as const;

/** The fields of a promotion in an input. A field that is left out stays unchanged; null removes its value. */
export interface PromotionInputFields {
  /** Titles of the promotion that buyers see, by locale; at least one. */
  readonly titles?: readonly LocalizedTextInput[] | null | undefined;
  readonly basisPoints?: number | null | undefined;
  readonly amountMinor?: number | null | undefined;
  /**
   * Currency of the discount amount and of the minimum subtotal. The currency is removed when the promotion
   * no longer has either of these amounts.
   */
  readonly currency?: string | null | undefined;
  readonly buyQuantity?: number | null | undefined;
  readonly getQuantity?: number | null | undefined;
  readonly minimumSubtotalMinor?: number | null | undefined;
  readonly minimumQuantity?: number | null | undefined;
  readonly entitledProductIds?: readonly string[] | null | undefined;
  readonly entitledCategoryIds?: readonly string[] | null | undefined;
  readonly buyProductIds?: readonly string[] | null | undefined;
  readonly buyCategoryIds?: readonly string[] | null | undefined;
  readonly marketIds?: readonly string[] | null | undefined;
  readonly requiresSignIn?: boolean | null | undefined;
  readonly buyerReferences?: readonly string[] | null | undefined;
  readonly startsAt?: Date | null | undefined;
  readonly endsAt?: Date | null | undefined;
  readonly usageLimit?: number | null | undefined;
  readonly perBuyerLimit?: number | null | undefined;
  readonly priority?: number | null | undefined;
  readonly isExclusive?: boolean | null | undefined;
}

/** The fields of a promotion that a merchant can set, in the form in which the database stores them. */
export interface StoredPromotionFields {
  readonly titles: Readonly<Record<string, string>>;
  readonly basisPoints: number | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
  readonly buyQuantity: number | null;
  readonly getQuantity: number | null;
  readonly minimumSubtotalMinor: number | null;
  readonly minimumQuantity: number | null;
  readonly entitledProductIds: readonly string[];
  readonly entitledCategoryIds: readonly string[];
  readonly buyProductIds: readonly string[];
  readonly buyCategoryIds: readonly string[];
  readonly marketIds: readonly string[];
  readonly requiresSignIn: boolean;
  readonly buyerReferences: readonly string[];
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly usageLimit: number | null;
  readonly perBuyerLimit: number | null;
  readonly priority: number;
  readonly isExclusive: boolean;
}

/** The values of a promotion's fields before the merchant has set any of the fields. */
export const emptyPromotionValues: StoredPromotionFields = {
  titles: {},
  basisPoints: null,
  amountMinor: null,
  currency: null,
  buyQuantity: null,
  getQuantity: null,
  minimumSubtotalMinor: null,
  minimumQuantity: null,
  entitledProductIds: [],
  entitledCategoryIds: [],
  buyProductIds: [],
  buyCategoryIds: [],
  marketIds: [],
  requiresSignIn: false,
  buyerReferences: [],
  startsAt: null,
  endsAt: null,
  usageLimit: null,
  perBuyerLimit: null,
  priority: 0,
  isExclusive: false,
};

const fieldNames = Object.keys(emptyPromotionValues) as (keyof StoredPromotionFields)[];

/** Merges the promotion fields of an input into the stored fields. Null in the input removes the stored value. */
export function mergeInputIntoStoredPromotion(
  values: StoredPromotionFields,
  fields: PromotionInputFields,
): StoredPromotionFields {
  const { titles } = fields;
  const given = {
    ...fields,
    titles: titles === null || titles === undefined ? titles : toLocalizedTextMap(titles),
  };
  const merged = Object.fromEntries(
    fieldNames.map((name) => [
      name,
      given[name] === undefined ? values[name] : (given[name] ?? emptyPromotionValues[name]),
    ]),
  ) as unknown as StoredPromotionFields;
  const hasAmount = merged.amountMinor !== null || merged.minimumSubtotalMinor !== null;
  return hasAmount || typeof fields.currency === "string" ? merged : { ...merged, currency: null };
}

/** Returns the faults of the promotion fields in an input. Each field is checked separately. */
export function findPromotionFieldFaults(input: PromotionInputFields): InputFieldErrors {
  return [
    ...(input.titles === undefined
      ? []
      : findLocalizedTextFaults("/titles", input.titles ?? [], { max: promotionFieldBounds.titleMax })),
    ...getIntegerFieldErrors("/basisPoints", input.basisPoints, {
      min: 1,
      max: promotionFieldBounds.basisPointsMax,
    }),
    ...getIntegerFieldErrors("/amountMinor", input.amountMinor, { min: 1, max: amountMinorMax }),
    ...getCurrencyFieldErrors("/currency", input.currency),
    ...getIntegerFieldErrors("/buyQuantity", input.buyQuantity, {
      min: 1,
      max: promotionFieldBounds.quantityMax,
    }),
    ...getIntegerFieldErrors("/getQuantity", input.getQuantity, {
      min: 1,
      max: promotionFieldBounds.quantityMax,
    }),
    ...getIntegerFieldErrors("/minimumSubtotalMinor", input.minimumSubtotalMinor, {
      min: 1,
      max: amountMinorMax,
    }),
    ...getIntegerFieldErrors("/minimumQuantity", input.minimumQuantity, {
      min: 1,
      max: promotionFieldBounds.minimumQuantityMax,
    }),
    ...findListFaults(input),
    ...instantFaults("/startsAt", input.startsAt),
    ...instantFaults("/endsAt", input.endsAt),
    ...getIntegerFieldErrors("/usageLimit", input.usageLimit, { min: 1, max: promotionFieldBounds.limitMax }),
    ...getIntegerFieldErrors("/perBuyerLimit", input.perBuyerLimit, {
      min: 1,
      max: promotionFieldBounds.limitMax,
    }),
    ...getIntegerFieldErrors("/priority", input.priority, {
      min: -promotionFieldBounds.priorityMax,
      max: promotionFieldBounds.priorityMax,
    }),
  ];
}

/** Returns the faults of the lists of ids and buyer references in an input. */
function findListFaults(input: PromotionInputFields): InputFieldErrors {
  return [
    ...getListLengthAndDuplicateErrors(
      "/entitledProductIds",
      input.entitledProductIds,
      promotionFieldBounds.productsMax,
    ),
    ...getListLengthAndDuplicateErrors(
      "/entitledCategoryIds",
      input.entitledCategoryIds,
      promotionFieldBounds.categoriesMax,
    ),
    ...getListLengthAndDuplicateErrors(
      "/buyProductIds",
      input.buyProductIds,
      promotionFieldBounds.productsMax,
    ),
    ...getListLengthAndDuplicateErrors(
      "/buyCategoryIds",
      input.buyCategoryIds,
      promotionFieldBounds.categoriesMax,
    ),
    ...getListLengthAndDuplicateErrors("/marketIds", input.marketIds, promotionFieldBounds.marketsMax),
    ...getListLengthAndDuplicateErrors(
      "/buyerReferences",
      input.buyerReferences,
      promotionFieldBounds.buyerReferencesMax,
    ),
    ...(input.buyerReferences ?? []).flatMap((reference, index) =>
      getTextFieldErrors(`/buyerReferences/${index}`, reference, {
        max: promotionFieldBounds.buyerReferenceLengthMax,
      }),
    ),
  ];
}

/**
 * Returns a fault if the year of a time is not from 2000 to 9999. Within this range, all databases and
 * clients format years in the same way.
 */
function instantFaults(field: string, instant: Date | null | undefined): InputFieldErrors {
  if (instant === null || instant === undefined) return [];
  const year = instant.getUTCFullYear();
  return year >= 2000 && year <= 9999
    ? []
    : [
        createRequestBodyErrorDetail(
          field,
          "out_of_range",
          `"${field.slice(1)}" must be in a year from 2000 to 9999.`,
        ),
      ];
}

const kindFields = ["basisPoints", "amountMinor", "buyQuantity", "getQuantity"] as const;

/**
 * The discount fields that each kind of promotion requires. A promotion must not have any other discount
 * field.
 */
const fieldsOfKind: Readonly<Record<PromotionKind, readonly (typeof kindFields)[number][]>> = {
  percentage: ["basisPoints"],
  fixed_amount: ["amountMinor"],
  free_shipping: [],
  buy_x_get_y: ["basisPoints", "buyQuantity", "getQuantity"],
  gift: ["getQuantity"],
};

/**
 * Returns the faults of promotion fields that do not fit together, or do not fit the promotion's kind,
 * currency or time window.
 */
export function findPromotionRuleFaults(
  kind: PromotionKind,
  values: StoredPromotionFields,
): InputFieldErrors {
  const needed = fieldsOfKind[kind];
  const { startsAt, endsAt } = values;
  return [
    ...kindFields.flatMap((name) =>
      values[name] === null
        ? requiredFaults(name, kind, needed.includes(name))
        : notAllowedFaults(name, kind, needed.includes(name)),
    ),
    ...(["buyProductIds", "buyCategoryIds"] as const).flatMap((name) =>
      values[name].length === 0 ? [] : notAllowedFaults(name, kind, kind === "buy_x_get_y"),
    ),
    ...moneyFaults(values),
    ...(startsAt !== null && endsAt !== null && endsAt <= startsAt
      ? [createRequestBodyErrorDetail("/endsAt", "out_of_range", '"endsAt" must be after "startsAt".')]
      : []),
  ];
}

const requiredFaults = (name: string, kind: PromotionKind, isNeeded: boolean): InputFieldErrors =>
  isNeeded
    ? [
        createRequestBodyErrorDetail(
          `/${name}`,
          "required",
          `"${name}" is required for a promotion of kind ${kind}.`,
        ),
      ]
    : [];

const notAllowedFaults = (name: string, kind: PromotionKind, isNeeded: boolean): InputFieldErrors =>
  isNeeded
    ? []
    : [
        createRequestBodyErrorDetail(
          `/${name}`,
          "not_allowed",
          `"${name}" is not allowed for a promotion of kind ${kind}.`,
        ),
      ];

function moneyFaults({
  amountMinor,
  minimumSubtotalMinor,
  currency,
}: StoredPromotionFields): InputFieldErrors {
  const hasAmount = amountMinor !== null || minimumSubtotalMinor !== null;
  if (hasAmount && currency === null)
    return [
      createRequestBodyErrorDetail(
        "/currency",
        "required",
        '"currency" is required with an amount or a minimum subtotal.',
      ),
    ];
  if (!hasAmount && currency !== null)
    return [
      createRequestBodyErrorDetail(
        "/currency",
        "not_allowed",
        '"currency" is only allowed with an amount or a minimum subtotal.',
      ),
    ];
  return [];
}
