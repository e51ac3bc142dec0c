/**
 * Creates the rows of a demo product's variants: one variant per combination of choices, with its price
 * history and stock.
 */
import type { StockAvailability } from "#commerce/catalog/availability.ts";
import { createId } from "#foundation/ids.ts";
import type {
  DemoProductPricesByMarket,
  DemoProductEntry,
  DemoProductOptionEntry,
} from "#demo/data/catalog-schema.ts";
import type { DemoTableRowToInsert } from "./insert-rows.ts";
import type { DemoMarketIdAndPriceListIndex } from "./merchant-rows.ts";
import { createDemoGtin, hashTextToNumber } from "#demo/random.ts";

export interface DemoVariantRows {
  readonly variant: readonly DemoTableRowToInsert<"variant">[];
  readonly price: readonly DemoTableRowToInsert<"price">[];
  readonly stockLevel: readonly DemoTableRowToInsert<"stockLevel">[];
  readonly stockMovement: readonly DemoTableRowToInsert<"stockMovement">[];
}

export interface DemoVariantRowsContext {
  readonly merchantId: string;
  readonly markets: readonly DemoMarketIdAndPriceListIndex[];
  readonly now: Date;
  /** The time when the product was created. A product that is not a draft was published at the same time. */
  readonly createdAt: Date;
  /**
   * The number of the product, unique among all products of the demo. The GTINs of its variants are derived
   * from this number.
   */
  readonly productNumber: number;
}

interface ProductVariantsContext {
  readonly productId: string;
  readonly rowsContext: DemoVariantRowsContext;
  readonly mediaIdOfColour: ReadonlyMap<string, string>;
}

type Choices = Readonly<Record<string, string>>;
type VariantRow = DemoTableRowToInsert<"variant">;

const dayMs = 86_400_000;
const gtinsPerProduct = 1000;

export function createDemoVariantRows(
  entry: DemoProductEntry,
  context: ProductVariantsContext,
): DemoVariantRows {
  const variants = listOptionCombinations(entry.options ?? []).map((choices, position) => {
    const state = entry.stock?.[position] ?? entry.stock?.at(-1) ?? "in_stock";
    return { choices, state, row: createVariantRow(entry, { ...context, choices, position, state }) };
  });
  const stockLevel = variants.map(({ row, state }) =>
    createStockRow(row, { state, isDigital: entry.grams === null }),
  );
  return {
    variant: variants.map(({ row }) => row),
    price: variants.flatMap(({ row, choices }) =>
      context.rowsContext.markets.flatMap((market) =>
        createPriceRows(entry, { row, choices, market, rowsContext: context.rowsContext }),
      ),
    ),
    stockLevel,
    stockMovement: stockLevel.filter(({ onHand }) => onHand > 0).map(createReceiptRow),
  };
}

/**
 * Returns all combinations of the choices of a product's options; a single empty combination if the product
 * has no options.
 */
export function listOptionCombinations(options: readonly DemoProductOptionEntry[]): Choices[] {
  return options.reduce<Choices[]>(
    (combinations, { code, choices }) =>
      combinations.flatMap((before) => choices.map((choice) => ({ ...before, [code]: choice }))),
    [{}],
  );
}

export function createDemoVariantSku(entry: DemoProductEntry, choices: Choices): string {
  return [entry.sku, ...Object.values(choices).map((choice) => choice.toUpperCase())].join("-");
}

function createVariantRow(
  entry: DemoProductEntry,
  context: ProductVariantsContext & {
    readonly choices: Choices;
    readonly position: number;
    readonly state: StockAvailability;
  },
): VariantRow {
  const { rowsContext, choices, position, state } = context;
  const hasGtin = entry.grams !== null && entry.restrictions?.includes("custom_made") !== true;
  return {
    id: createId("variant", rowsContext.createdAt.getTime()),
    merchantId: rowsContext.merchantId,
    productId: context.productId,
    sku: createDemoVariantSku(entry, choices),
    gtin: hasGtin ? createDemoGtin(rowsContext.productNumber * gtinsPerProduct + position) : null,
    options: choices,
    mediaId: context.mediaIdOfColour.get(choices["colour"] ?? "") ?? null,
    restrictions: [...(entry.restrictions ?? [])],
    requiresShipping: entry.grams !== null,
    weightGrams: entry.grams,
    maxOrderQuantity: entry.maxOrderQuantity ?? null,
    discontinued: state === "discontinued",
    availableFrom: state === "preorder" ? new Date(rowsContext.now.getTime() + 30 * dayMs) : null,
    position,
    createdAt: rowsContext.createdAt,
    updatedAt: rowsContext.createdAt,
  };
}

function createStockRow(
  variant: VariantRow,
  { state, isDigital }: { readonly state: StockAvailability; readonly isDigital: boolean },
): DemoTableRowToInsert<"stockLevel"> {
  const hash = hashTextToNumber(variant.sku);
  const ampleStock = isDigital ? 10_000 : 24 + (hash % 140);
  const onHand = {
    in_stock: ampleStock,
    low_stock: 2 + (hash % 4),
    preorder: ampleStock,
    backorder: 0,
    out_of_stock: 0,
    discontinued: 0,
  }[state];
  return {
    variantId: variant.id,
    merchantId: variant.merchantId,
    onHand,
    backorderLimit: state === "backorder" ? 25 : 0,
    lowStockThreshold: 5,
    updatedAt: variant.updatedAt,
  };
}

function createReceiptRow({
  variantId,
  merchantId,
  onHand,
  updatedAt,
}: DemoTableRowToInsert<"stockLevel">): DemoTableRowToInsert<"stockMovement"> {
  return {
    merchantId,
    variantId,
    delta: onHand,
    onHandAfter: onHand,
    reason: "received",
    note: null,
    createdAt: updatedAt,
  };
}

interface VariantPriceInput {
  readonly row: VariantRow;
  readonly choices: Choices;
  readonly market: DemoMarketIdAndPriceListIndex;
  readonly rowsContext: DemoVariantRowsContext;
}

function createPriceRows(
  entry: DemoProductEntry,
  { row, choices, market, rowsContext }: VariantPriceInput,
): DemoTableRowToInsert<"price">[] {
  const choiceWithPrice = Object.values(choices).find((choice) => entry.priceOf?.[choice] !== undefined);
  const amounts: DemoProductPricesByMarket =
    (choiceWithPrice === undefined ? undefined : entry.priceOf?.[choiceWithPrice]) ?? entry.price;
  const amount = amounts[market.amountIndex];
  if (amount === null) return [];
  const steps = listPriceSteps(amount, {
    before: entry.priceBefore?.[market.amountIndex] ?? null,
    hasRisen: entry.priceRose === true,
  });
  return steps.map(({ daysAgo, amountMinor, compareAtMinor }, index) => {
    const next = steps[index + 1];
    return {
      variantId: row.id,
      marketId: market.id,
      merchantId: rowsContext.merchantId,
      amountMinor,
      compareAtMinor,
      validFrom: daysAgo === null ? rowsContext.createdAt : daysBefore(rowsContext.now, daysAgo),
      validUntil:
        next?.daysAgo === null || next === undefined ? null : daysBefore(rowsContext.now, next.daysAgo),
    };
  });
}

interface PriceStep {
  /**
   * The number of days for which the current price has applied; null if it has applied since the product was
   * created.
   */
  readonly daysAgo: number | null;
  readonly amountMinor: number;
  readonly compareAtMinor: number | null;
}

/**
 * Lists the present and former prices of a variant, oldest first. A product on sale has had its present price
 * for nine days. It also had a price 5 % below its normal price from day 24 to day 21 before today. The
 * lowest price of the 30 days before the sale (`lowest30d`) therefore differs from the normal price. All
 * other products had one price, or one price increase.
 */
function listPriceSteps(
  amount: number,
  { before, hasRisen }: { readonly before: number | null; readonly hasRisen: boolean },
): PriceStep[] {
  if (before !== null)
    return [
      createPriceStep(null, before),
      createPriceStep(24, roundToTen(before * 0.95)),
      createPriceStep(21, before),
      createPriceStep(9, amount, before),
    ];
  if (hasRisen) return [createPriceStep(null, roundToTen(amount / 1.1)), createPriceStep(12, amount)];
  return [createPriceStep(null, amount)];
}

function createPriceStep(
  daysAgo: number | null,
  amountMinor: number,
  compareAtMinor: number | null = null,
): PriceStep {
  return { daysAgo, amountMinor, compareAtMinor };
}

const roundToTen = (amount: number): number => Math.round(amount / 10) * 10;
const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs);
