/**
 * References to the GraphQL object types, without their fields. Each file that defines the fields of a type
 * can use all references without importing another such file.
 */
import type {
  RenderedProductImage,
  ProductPriceRange,
  ProductSummary,
} from "#commerce/catalog/render-product.ts";
import type { ProductDetail, VariantOffer, VariantView } from "#commerce/catalog/render-detail.ts";
import type { ProductAggregate, StoredProductVariant } from "#commerce/catalog/read-products.ts";
import type { CategoryRow } from "#commerce/catalog/catalog-lists.ts";
import type { OauthGrantRow } from "#access/oauth/grants.ts";
import type { StaffRow } from "#access/people/staff.ts";
import type { ApiKeyRow, InternalTokenRow } from "#access/keys/read-credentials.ts";
import type { AppRow, InstallationRow } from "#access/installations.ts";
import type { MerchantRow } from "#access/merchants.ts";
import type { MarketRow } from "#commerce/markets/read-markets.ts";
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { CartView, DeliveryOptionView } from "#commerce/carts/render-cart.ts";
import type { CheckoutSessionView } from "#commerce/checkout/render-session.ts";
import type { CheckoutSessionAggregate } from "#commerce/checkout/session-aggregate.ts";
import type { CartTotals, CartPromotionsAndDiscountsView } from "#commerce/carts/render-promotion-state.ts";
import type { PromotionCodeRow, PromotionRow } from "#commerce/promotions/read-promotions.ts";
import type { Money } from "#foundation/money.ts";
import type { Viewer } from "#access/viewer.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { OrderView } from "#commerce/orders/render-order.ts";
import type {
  FulfillmentView,
  PaymentView,
  RefundView,
  ReturnView,
  WarrantyView,
} from "#commerce/orders/render-parts.ts";
import type { DeliveryView, EventWithDeliveries } from "#webhooks/delivery-log.ts";
import type { WebhookEndpoint } from "#webhooks/endpoints/endpoint-aggregate.ts";
import { builder } from "./builder.ts";

/**
 * A cart as GraphQL resolvers receive it: the fields that the API returns, and in `stored` the cart as read
 * from the database.
 */
export type GraphqlCart = CartView & { readonly stored: CartAggregate };
/**
 * A checkout session as GraphQL resolvers receive it: the fields that the API returns, in `stored` the
 * session as read from the database, and the session's cart.
 */
export type GraphqlCheckoutSession = CheckoutSessionView & {
  readonly stored: CheckoutSessionAggregate;
  readonly cart: CartAggregate;
};

/**
 * An order as GraphQL resolvers receive it: the fields that the API returns, and in `stored` the order as
 * read from the database.
 */
export type GraphqlOrder = OrderView & { readonly stored: OrderAggregate };

export const MoneyRef = builder.objectRef<Money>("Money");
export const PriceRangeRef = builder.objectRef<ProductPriceRange>("PriceRange");
export const ImageRef = builder.objectRef<RenderedProductImage>("Image");
export const MerchantSummaryRef = builder.objectRef<ProductSummary["merchant"]>("MerchantSummary");

export const ProductSummaryRef = builder.objectRef<ProductSummary>("ProductSummary");
export const ProductDetailRef = builder.objectRef<ProductDetail>("ProductDetail");
export const ProductVariantRef = builder.objectRef<VariantView>("ProductVariant");
export const VariantOfferRef = builder.objectRef<VariantOffer>("VariantOffer");

export const ProductRef = builder.objectRef<ProductAggregate>("Product");
export const VariantRef = builder.objectRef<StoredProductVariant & { readonly product: ProductAggregate }>(
  "Variant",
);

export const CategoryRef = builder.objectRef<CategoryRow>("Category");

export const ViewerRef = builder.objectRef<Viewer>("Viewer");
export const MerchantRef = builder.objectRef<MerchantRow>("Merchant");
export const AppRef = builder.objectRef<AppRow>("App");
export const InstallationRef = builder.objectRef<InstallationRow>("Installation");
export const ApiKeyRef = builder.objectRef<ApiKeyRow>("ApiKey");
export const StaffAccountRef = builder.objectRef<StaffRow>("StaffAccount");
export const OAuthGrantRef = builder.objectRef<OauthGrantRow>("OAuthGrant");
export const InternalTokenRef = builder.objectRef<InternalTokenRow>("InternalToken");
export const MarketRef = builder.objectRef<MarketRow>("Market");

export const CartRef = builder.objectRef<GraphqlCart>("Cart");
export const PromotionStateRef = builder.objectRef<CartPromotionsAndDiscountsView>("PromotionState");
export const CartTotalsRef = builder.objectRef<CartTotals>("CartTotals");
export const DeliveryOptionRef = builder.objectRef<DeliveryOptionView>("DeliveryOption");
export const MaskedAddressRef = builder.objectRef<MaskedAddress>("MaskedAddress");

export const PromotionRef = builder.objectRef<PromotionRow>("Promotion");
export const PromotionCodeRef = builder.objectRef<PromotionCodeRow>("PromotionCode");

export const CheckoutSessionRef = builder.objectRef<GraphqlCheckoutSession>("HostedCheckoutSession");

export const OrderRef = builder.objectRef<GraphqlOrder>("Order");
export const FulfillmentRef = builder.objectRef<FulfillmentView>("Fulfillment");
export const PaymentRef = builder.objectRef<PaymentView>("Payment");
export const RefundRef = builder.objectRef<RefundView>("Refund");
export const ReturnRef = builder.objectRef<ReturnView>("Return");
export const WarrantyRef = builder.objectRef<WarrantyView>("WarrantyRegistration");

export const WebhookEndpointRef = builder.objectRef<WebhookEndpoint>("WebhookEndpoint");
export const WebhookDeliveryRef = builder.objectRef<DeliveryView>("WebhookDelivery");
export const WebhookEventRef = builder.objectRef<EventWithDeliveries>("Event");
