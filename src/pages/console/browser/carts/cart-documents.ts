/** GraphQL documents and result types of the cart pages. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";
import type { MoneyAmount } from "#pages/console/browser/parts/formats.tsx";

export type ConsoleCartStatus = "ACTIVE" | "LOCKED" | "COMPLETED" | "REVOKED" | "EXPIRED" | "MERGED";

export const cartStates: readonly ConsoleCartStatus[] = [
  "ACTIVE",
  "LOCKED",
  "COMPLETED",
  "REVOKED",
  "EXPIRED",
  "MERGED",
];

const money = "{ amountMinor currency exponent }";

export interface CartListItem {
  readonly id: string;
  readonly status: ConsoleCartStatus;
  readonly totalQuantity: number;
  readonly updatedAt: string;
  readonly totals: { readonly total: MoneyAmount; readonly estimated: boolean };
  readonly promotion: { readonly promotion: { readonly code: string } | null };
  readonly buyer: CartBuyerIdentity;
}

export interface CartBuyerIdentity {
  readonly reference: string | null;
  readonly guest: boolean;
  readonly emailHint: string | null;
}

interface CartListVariables {
  readonly status: ConsoleCartStatus | null;
  readonly last: number;
  readonly before: string | null;
}

export const cartsDocument = createConsoleGraphqlDocument<
  { carts: GraphqlConnection<CartListItem> },
  CartListVariables
>(`
  query ConsoleCarts($status: CartStatus, $last: Int!, $before: String) {
    carts(status: $status, last: $last, before: $before) {
      edges { node {
        id status totalQuantity updatedAt
        totals { total ${money} estimated }
        promotion { promotion { code } }
        buyer { reference guest emailHint }
      } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export interface ConsoleCartLine {
  readonly id: string;
  readonly title: string;
  readonly variantTitle: string | null;
  readonly sku: string;
  readonly quantity: number;
  readonly unitPrice: MoneyAmount;
  readonly compareAtUnitPrice: MoneyAmount | null;
  readonly discount: MoneyAmount;
  readonly total: MoneyAmount;
  readonly availability: string;
  readonly availableQuantity: number | null;
}

export interface ConsoleCartTotals {
  readonly subtotal: MoneyAmount;
  readonly discount: MoneyAmount;
  readonly shipping: MoneyAmount | null;
  readonly tax: MoneyAmount | null;
  readonly taxIncluded: boolean;
  readonly total: MoneyAmount;
  readonly estimated: boolean;
}

export interface ConsoleCartPromotions {
  readonly state: "NONE" | "APPLIED" | "SUSPENDED";
  readonly suspendedReason: string | null;
  readonly promotion: { readonly id: string; readonly code: string; readonly title: string } | null;
  readonly discount: MoneyAmount;
  readonly automatic: readonly {
    readonly id: string;
    readonly title: string;
    readonly discount: MoneyAmount;
  }[];
}

export interface ConsoleCartAddress {
  readonly countryCode: string;
  readonly regionCode: string | null;
  readonly city: string | null;
  readonly postalCodePrefix: string | null;
  readonly recipientInitials: string | null;
  readonly complete: boolean;
}

export interface ConsoleCart {
  readonly id: string;
  readonly version: number;
  readonly status: ConsoleCartStatus;
  readonly market: string;
  readonly locale: string;
  readonly totalQuantity: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly orderId: string | null;
  readonly mergedIntoCartId: string | null;
  readonly addressTokenExpiresAt: string | null;
  readonly checkout: { readonly sessionId: string; readonly status: string } | null;
  readonly revocation: { readonly reason: string; readonly note: string | null; readonly at: string } | null;
  readonly warnings: readonly {
    readonly code: string;
    readonly lineId: string | null;
    readonly message: string;
  }[];
  readonly delivery: {
    readonly selectedOptionId: string | null;
    readonly options: readonly { readonly id: string; readonly name: string }[];
  } | null;
  readonly buyer: CartBuyerIdentity;
  readonly address: ConsoleCartAddress | null;
  readonly totals: ConsoleCartTotals;
  readonly promotion: ConsoleCartPromotions;
  readonly lines: readonly ConsoleCartLine[];
}

export const cartDocument = createConsoleGraphqlDocument<{ cart: ConsoleCart | null }, { id: string }>(`
  query ConsoleCart($id: ID!) {
    cart(id: $id) {
      id version status market locale totalQuantity createdAt updatedAt expiresAt orderId mergedIntoCartId
      addressTokenExpiresAt
      checkout { sessionId status }
      revocation { reason note at }
      warnings { code lineId message }
      delivery { selectedOptionId options { id name } }
      buyer { reference guest emailHint }
      address { countryCode regionCode city postalCodePrefix recipientInitials complete }
      totals {
        subtotal ${money} discount ${money} shipping ${money} tax ${money} taxIncluded total ${money} estimated
      }
      promotion {
        state suspendedReason promotion { id code title } discount ${money}
        automatic { id title discount ${money} }
      }
      lines {
        id title variantTitle sku quantity unitPrice ${money} compareAtUnitPrice ${money} discount ${money}
        total ${money} availability availableQuantity
      }
    }
  }
`);

interface RevokeCartVariables {
  readonly cartId: string;
  readonly input: { readonly expectedVersion: number; readonly reason: string; readonly note: string | null };
}

export const revokeCartDocument = createConsoleGraphqlDocument<
  { cartRevoke: { id: string } },
  GraphqlVariablesWithIdempotencyKey & RevokeCartVariables
>(`
  mutation ConsoleCartRevoke($idempotencyKey: String!, $cartId: ID!, $input: PublicCartTransitionRequest!) {
    cartRevoke(idempotencyKey: $idempotencyKey, cartId: $cartId, input: $input) { id }
  }
`);

export const cancelCheckoutDocument = createConsoleGraphqlDocument<
  { hostedCheckoutSessionCancel: { id: string } },
  GraphqlVariablesWithIdempotencyKey & { sessionId: string; input: { reason: string } }
>(`
  mutation ConsoleCheckoutCancel($idempotencyKey: String!, $sessionId: ID!,
    $input: HostedCheckoutCancelRequest!) {
    hostedCheckoutSessionCancel(idempotencyKey: $idempotencyKey, sessionId: $sessionId, input: $input) { id }
  }
`);
