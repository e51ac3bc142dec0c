/**
 * The current offer for a cart, with which the cart is priced: prices, stock and texts of the variants, taxes
 * and delivery methods of the market, and promotions.
 */
import type { LocalizedTextMap } from "#commerce/catalog/read-products.ts";
import type { CartTaxRatesAndRules, TaxRounding } from "#commerce/pricing/tax-amounts.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import type { PromotionFieldsShownToBuyers } from "#commerce/promotions/read-promotions.ts";
import type { MarketTaxRate } from "#commerce/tax/tax-provider.ts";

export interface CartPricingVariant {
  readonly id: string;
  readonly productId: string;
  readonly isPublished: boolean;
  readonly sku: string;
  /** Price of the variant in minor units; null if the variant is not sold in the cart's market. */
  readonly priceMinor: number | null;
  readonly compareAtMinor: number | null;
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
  readonly lowStockThreshold: number;
  readonly discontinued: boolean;
  /** Time from which the variant is delivered, for a preorder; null if the variant is no preorder. */
  readonly availableFrom: string | null;
  readonly maxOrderQuantity: number | null;
  readonly requiresShipping: boolean;
  /** Code of the product's tax class. */
  readonly taxClass: string;
  readonly restrictions: readonly string[];
  readonly options: LocalizedTextMap;
  readonly choices: readonly {
    readonly code: string;
    readonly choices: readonly { readonly code: string; readonly labels: LocalizedTextMap }[];
  }[];
  readonly translations: readonly {
    readonly locale: string;
    readonly slug: string;
    readonly title: string;
  }[];
  readonly image: {
    readonly url: string;
    readonly alts: LocalizedTextMap;
    readonly width: number;
    readonly height: number;
  } | null;
  /**
   * Ids of the product's categories and of all their parent categories; empty if no promotion that can apply
   * depends on categories.
   */
  readonly categoryIds: readonly string[];
}

export interface CartPricingDeliveryMethod {
  readonly id: string;
  readonly names: LocalizedTextMap;
  readonly carrier: string | null;
  readonly pickup: boolean;
  readonly priceMinor: number;
  readonly freeFromMinor: number | null;
  readonly minDays: number;
  readonly maxDays: number;
  readonly taxRule: CartTaxRatesAndRules["shipping"]["rule"];
  readonly taxClass: string;
}

export interface CartPricingMarket {
  readonly id: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly taxRounding: TaxRounding;
  readonly defaultLocale: string;
  readonly countries: readonly string[];
  /**
   * The tax rates of all classes that are valid now in the requested country. They may be empty if the cart
   * has no address, and are not used then.
   */
  readonly taxes: readonly MarketTaxRate[];
  /** The active delivery methods. They may be empty if the cart has no address, and are not used then. */
  readonly deliveries: readonly CartPricingDeliveryMethod[];
}

export interface CurrentCartPricingData {
  readonly merchantLocale: string;
  readonly market: CartPricingMarket;
  readonly variants: ReadonlyMap<string, CartPricingVariant>;
  /** The active automatic promotions of the market. */
  readonly automatic: readonly PromotionRule[];
  /**
   * The promotion of the requested promotion code; undefined if the caller requested no code, or if the
   * merchant has no such code.
   */
  readonly code: PromotionRule | undefined;
  /** The values of each loaded promotion that buyers see (code, titles, discount and period), by promotion id. */
  readonly promotions: ReadonlyMap<string, PromotionFieldsShownToBuyers>;
}
