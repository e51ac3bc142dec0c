/** GraphQL documents and result types of the console's search. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { MoneyAmount } from "#pages/console/browser/parts/formats.tsx";

interface ById {
  readonly id: string;
}

interface AppOf {
  readonly app: { readonly name: string };
}

export interface FoundOrder extends ById {
  readonly number: string;
  readonly status: string;
  readonly placedAt: string;
  readonly totals: { readonly total: MoneyAmount };
}

export interface FoundInstallation extends ById, AppOf {
  readonly status: string;
}

export interface FoundApiKey extends ById {
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
  readonly installation: ById & AppOf;
}

export interface FoundWebhookEndpoint extends ById {
  readonly url: string;
  readonly description: string | null;
  readonly status: string;
}

export interface FoundStaff extends ById {
  readonly name: string;
  readonly email: string;
  readonly disabledAt: string | null;
}

interface FoundEvent {
  readonly type: string;
  readonly occurredAt: string;
  readonly deliveries: readonly { readonly id: string; readonly status: string }[];
}

/**
 * An object that was found by its id: a checkout session, or a part of an order, for example a payment or a
 * return.
 */
export interface FoundCheckoutSessionOrOrderPart extends ById {
  readonly status: string;
  readonly orderId: string | null;
  readonly cartId?: string;
}

const order = "id number status placedAt totals { total { amountMinor currency exponent } }";
const key = "id name prefix lastFour revokedAt expiresAt installation { id app { name } }";
const pageInfo = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
const staff = `staffAccounts(first: 100) { edges { node { id name email disabledAt } } ${pageInfo} }`;

export const findOrderDocument = createConsoleGraphqlDocument<{ order: FoundOrder | null }, ById>(
  `query ConsoleFindOrder($id: ID!) { order(id: $id) { ${order} } }`,
);

export const findCartDocument = createConsoleGraphqlDocument<
  {
    cart: { id: string; status: string; updatedAt: string; totals: { total: MoneyAmount } } | null;
  },
  ById
>(`query ConsoleFindCart($id: ID!) {
  cart(id: $id) { id status updatedAt totals { total { amountMinor currency exponent } } }
}`);

export const findSessionDocument = createConsoleGraphqlDocument<
  { found: FoundCheckoutSessionOrOrderPart | null },
  ById
>(
  `query ConsoleFindSession($id: ID!) { found: hostedCheckoutSession(id: $id) { id status orderId cartId } }`,
);
export const findPaymentDocument = createConsoleGraphqlDocument<
  { found: FoundCheckoutSessionOrOrderPart | null },
  ById
>(`query ConsoleFindPayment($id: ID!) { found: payment(id: $id) { id status orderId } }`);
export const findRefundDocument = createConsoleGraphqlDocument<
  { found: FoundCheckoutSessionOrOrderPart | null },
  ById
>(`query ConsoleFindRefund($id: ID!) { found: refund(id: $id) { id status orderId } }`);
export const findFulfillmentDocument = createConsoleGraphqlDocument<
  { found: FoundCheckoutSessionOrOrderPart | null },
  ById
>(`query ConsoleFindFulfillment($id: ID!) { found: fulfillment(id: $id) { id status orderId } }`);
export const findReturnDocument = createConsoleGraphqlDocument<
  { found: FoundCheckoutSessionOrOrderPart | null },
  ById
>(`query ConsoleFindReturn($id: ID!) { found: return(id: $id) { id status orderId } }`);

export const findInstallationDocument = createConsoleGraphqlDocument<
  { installation: FoundInstallation | null },
  ById
>(`query ConsoleFindInstallation($id: ID!) { installation(id: $id) { id status app { name } } }`);

export const findKeyDocument = createConsoleGraphqlDocument<{ apiKey: FoundApiKey | null }, ById>(
  `query ConsoleFindKey($id: ID!) { apiKey(id: $id) { ${key} } }`,
);

export const findEndpointDocument = createConsoleGraphqlDocument<
  { webhookEndpoint: FoundWebhookEndpoint | null },
  ById
>(`query ConsoleFindEndpoint($id: ID!) { webhookEndpoint(id: $id) { id url description status } }`);

export const findDeliveryDocument = createConsoleGraphqlDocument<
  { webhookDelivery: { id: string; status: string; event: { type: string; occurredAt: string } } | null },
  ById
>(`query ConsoleFindDelivery($id: ID!) {
  webhookDelivery(id: $id) { id status event { type occurredAt } }
}`);

export const findEventDocument = createConsoleGraphqlDocument<
  { installations: GraphqlConnection<ById & AppOf & { webhookEvent: FoundEvent | null }> },
  ById
>(`query ConsoleFindEvent($id: ID!) {
  installations(first: 100) {
    edges { node { id app { name } webhookEvent(id: $id) { type occurredAt deliveries { id status } } } }
    ${pageInfo}
  }
}`);

export const findRequestDocument = createConsoleGraphqlDocument<
  {
    apiRequest: { id: string; method: string; operation: string; status: number; at: string } | null;
  },
  ById
>(`query ConsoleFindRequest($id: ID!) { apiRequest(id: $id) { id method operation status at } }`);

export const findStaffDocument = createConsoleGraphqlDocument<{
  staffAccounts: GraphqlConnection<FoundStaff>;
}>(`query ConsoleFindStaff { ${staff} }`);

export interface ConsoleNameSearchQueryResult {
  readonly orders: GraphqlConnection<FoundOrder>;
  readonly installations: GraphqlConnection<
    FoundInstallation & {
      readonly webhookEndpointList: { readonly endpoints: readonly FoundWebhookEndpoint[] };
    }
  >;
  readonly apiKeys: GraphqlConnection<FoundApiKey>;
  readonly staffAccounts: GraphqlConnection<FoundStaff>;
}

/**
 * Reads the order with the searched number, and the objects that can be found by name: the first 100 app
 * installations with their webhook endpoints, the newest 100 API keys, and the first 100 staff accounts.
 */
export const namedObjectsDocument = createConsoleGraphqlDocument<
  ConsoleNameSearchQueryResult,
  { number: string }
>(`
  query ConsoleNamedObjects($number: String!) {
    orders(first: 1, number: $number) { edges { node { ${order} } } ${pageInfo} }
    installations(first: 100) {
      edges { node { id status app { name } webhookEndpointList { endpoints { id url description status } } } }
      ${pageInfo}
    }
    apiKeys(last: 100) { edges { node { ${key} } } ${pageInfo} }
    ${staff}
  }
`);
