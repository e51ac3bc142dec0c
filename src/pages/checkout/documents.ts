/**
 * The GraphQL documents of the checkout page, executed with the rights of the session's buyer. Each document
 * has one root field and reads exactly the data that the page shows.
 */
import type { CheckoutServices, CheckoutGraphqlDocumentRunner } from "./checkout-services.ts";
import type { DisplayedAmount } from "./amounts.ts";

const money = "{ amountMinor currency exponent }";
const maskedAddress = "{ countryCode regionCode city postalCodePrefix recipientInitials }";

const branding = `branding { color logo { url width height } supportEmail supportPhone supportUrl termsUrl privacyUrl
  imprintUrl }`;

const sessionDocument = `query CheckoutPage($id: ID!) {
  hostedCheckoutSession(id: $id) {
    id version status orderId merchant { name: displayName ${branding} } market countries locale amountTotal ${money}
    paymentProvider mode paymentFailureCode successUrl cancelUrl expiresAt submittedAt completedAt cancellation { actor }
    cart {
      lines { id title variantTitle image { url } quantity unitPrice ${money} compareAtUnitPrice ${money}
      subtotal ${money} requiresShipping }
      totals { subtotal ${money} discount ${money} shipping ${money} tax ${money} taxIncluded total ${money}
      estimated }
      taxLines { name basisPoints tax ${money} }
      promotion { state suspendedReason promotion { code title } automatic { title discount ${money} } }
      address ${maskedAddress}
      delivery { selectedOptionId options { id name names carrier price ${money} minDays maxDays pickup } }
      warnings { code lineId }
      buyer { emailHint }
    }
  }
}`;

export interface CheckoutPageCartLine {
  readonly id: string;
  readonly title: string;
  readonly variantTitle: string | null;
  readonly image: { readonly url: string } | null;
  readonly quantity: number;
  readonly unitPrice: DisplayedAmount;
  readonly compareAtUnitPrice: DisplayedAmount | null;
  readonly subtotal: DisplayedAmount;
  readonly requiresShipping: boolean;
}

interface ShownTotals {
  readonly subtotal: DisplayedAmount;
  readonly discount: DisplayedAmount;
  readonly shipping: DisplayedAmount | null;
  readonly tax: DisplayedAmount | null;
  readonly taxIncluded: boolean;
  readonly total: DisplayedAmount;
  readonly estimated: boolean;
}

/** The amount of one tax in the cart, at one rate. */
export interface CheckoutPageTaxLine {
  /** The name of the tax, for example `VAT`; null if no tax applies. */
  readonly name: string | null;
  /** The tax rate in basis points, for example 1900 for 19 %; null if no rate was recorded. */
  readonly basisPoints: number | null;
  readonly tax: DisplayedAmount;
}

export interface CheckoutPageDeliveryOption {
  readonly id: string;
  /** The name of the delivery option in the locale of the checkout session. */
  readonly name: string;
  /** The names of the delivery option by locale. */
  readonly names: Readonly<Record<string, string>>;
  readonly carrier: string | null;
  readonly price: DisplayedAmount;
  readonly minDays: number;
  readonly maxDays: number;
  readonly pickup: boolean;
}

export interface CheckoutPageMaskedAddress {
  readonly countryCode: string;
  readonly regionCode: string | null;
  readonly city: string | null;
  readonly postalCodePrefix: string | null;
  readonly recipientInitials: string | null;
}

export interface CheckoutPageCart {
  readonly lines: readonly CheckoutPageCartLine[];
  readonly totals: ShownTotals;
  /** The cart's taxes, one line per rate. Empty while the taxes are not known yet. */
  readonly taxLines: readonly CheckoutPageTaxLine[];
  readonly promotion: {
    readonly state: "none" | "applied" | "suspended";
    readonly suspendedReason: string | null;
    readonly promotion: { readonly code: string; readonly title: string } | null;
    readonly automatic: readonly { readonly title: string; readonly discount: DisplayedAmount }[];
  };
  readonly address: CheckoutPageMaskedAddress | null;
  readonly delivery: {
    readonly selectedOptionId: string | null;
    readonly options: readonly CheckoutPageDeliveryOption[];
  } | null;
  readonly warnings: readonly { readonly code: string; readonly lineId: string | null }[];
  readonly buyer: { readonly emailHint: string | null };
}

/**
 * The merchant's logo, colour, support and legal links on the checkout page. A field is null if the merchant
 * has not set it.
 */
export interface CheckoutPageBranding {
  /** The brand colour in the form `#rrggbb`; null if the merchant has not set it. */
  readonly color: string | null;
  readonly logo: { readonly url: string; readonly width: number; readonly height: number } | null;
  readonly supportEmail: string | null;
  readonly supportPhone: string | null;
  readonly supportUrl: string | null;
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
  readonly imprintUrl: string | null;
}

export interface CheckoutPageMerchant {
  /** The name of the merchant that buyers see. */
  readonly name: string;
  readonly branding: CheckoutPageBranding | null;
}

export interface CheckoutPageSession {
  readonly id: string;
  readonly version: number;
  readonly status: "open" | "processing" | "completed" | "canceled" | "expired";
  readonly orderId: string | null;
  readonly merchant: CheckoutPageMerchant;
  readonly market: string;
  readonly countries: readonly string[];
  readonly locale: string;
  readonly amountTotal: DisplayedAmount;
  /** The provider of the next payment; null if the merchant has disconnected its provider. */
  readonly paymentProvider: "test" | "stripe" | null;
  readonly mode: "live" | "test";
  readonly paymentFailureCode: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: string;
  readonly submittedAt: string | null;
  readonly completedAt: string | null;
  readonly cancellation: { readonly actor: string } | null;
  readonly cart: CheckoutPageCart;
}

const orderDocument = `query CheckoutOrder($id: ID!) {
  order(id: $id) {
    number placedAt deliveryAddress ${maskedAddress} delivery { name names carrier minDays maxDays pickup }
  }
}`;

/** The order of a completed checkout session, shown only in the browser that placed the order. */
export interface CheckoutPageOrder {
  readonly number: string;
  readonly placedAt: string;
  readonly deliveryAddress: CheckoutPageMaskedAddress | null;
  readonly delivery: Omit<CheckoutPageDeliveryOption, "id" | "price"> | null;
}

const statusDocument = "query CheckoutStatus($id: ID!) { hostedCheckoutSession(id: $id) { status version } }";

const change = (field: string, type: string): string =>
  `mutation Change($sessionId: ID!, $input: ${type}!) { ${field}(sessionId: $sessionId, input: $input) {
    version } }`;
const keyed = (field: string, type: string): string =>
  `mutation Change($sessionId: ID!, $key: String!, $input: ${type}!) { ${field}(sessionId: $sessionId,
    idempotencyKey: $key, input: $input) { version } }`;

export interface CheckoutPageGraphqlOperations {
  readonly session: CheckoutGraphqlDocumentRunner;
  readonly status: CheckoutGraphqlDocumentRunner;
  readonly order: CheckoutGraphqlDocumentRunner;
  readonly setAddress: CheckoutGraphqlDocumentRunner;
  readonly setContact: CheckoutGraphqlDocumentRunner;
  readonly selectDelivery: CheckoutGraphqlDocumentRunner;
  readonly applyPromotion: CheckoutGraphqlDocumentRunner;
  readonly removePromotion: CheckoutGraphqlDocumentRunner;
  readonly submit: CheckoutGraphqlDocumentRunner;
  readonly giveUp: CheckoutGraphqlDocumentRunner;
  readonly cancel: CheckoutGraphqlDocumentRunner;
}

export function compileCheckoutPageGraphqlOperations(
  compile: CheckoutServices["compile"],
): CheckoutPageGraphqlOperations {
  return {
    session: compile(sessionDocument),
    status: compile(statusDocument),
    order: compile(orderDocument),
    setAddress: compile(change("hostedCheckoutSessionAddressSet", "HostedCheckoutSessionAddressSetInput")),
    setContact: compile(change("hostedCheckoutSessionContactSet", "HostedCheckoutSessionContactSetInput")),
    selectDelivery: compile(
      change("hostedCheckoutSessionDeliveryOptionSelect", "HostedCheckoutSessionDeliveryOptionSelectInput"),
    ),
    applyPromotion: compile(
      change("hostedCheckoutSessionPromotionApply", "HostedCheckoutSessionPromotionApplyInput"),
    ),
    removePromotion: compile(
      change("hostedCheckoutSessionPromotionRemove", "HostedCheckoutSessionPromotionRemoveInput"),
    ),
    submit: compile(keyed("hostedCheckoutSessionSubmit", "HostedCheckoutSessionSubmitInput")),
    giveUp: compile(keyed("hostedCheckoutSessionFail", "HostedCheckoutSessionFailInput")),
    cancel: compile(change("hostedCheckoutSessionCancel", "HostedCheckoutCancelRequest")),
  };
}
