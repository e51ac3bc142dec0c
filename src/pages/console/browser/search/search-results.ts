/** Finds the objects that match a search term, and describes each of them for the page of search results. */
import { sendGraphqlRequest } from "#pages/console/browser/graph/client.ts";
import {
  getGraphqlConnectionNodes,
  type ConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import { getCredentialState } from "#pages/console/browser/parts/credentials.tsx";
import { formatMoney } from "#pages/console/browser/parts/formats.tsx";
import { getApiOperationPath } from "#pages/console/browser/requests/api-operations.ts";
import {
  findCartDocument,
  findDeliveryDocument,
  findEndpointDocument,
  findEventDocument,
  findFulfillmentDocument,
  findInstallationDocument,
  findKeyDocument,
  findOrderDocument,
  findPaymentDocument,
  findRefundDocument,
  findRequestDocument,
  findReturnDocument,
  findSessionDocument,
  findStaffDocument,
  type FoundWebhookEndpoint,
  type FoundInstallation,
  type FoundApiKey,
  type FoundOrder,
  type FoundCheckoutSessionOrOrderPart,
  type FoundStaff,
  type ConsoleNameSearchQueryResult,
  namedObjectsDocument,
} from "./search-documents.ts";
import {
  containsIgnoringCaseAndAccents,
  parseOrderNumber,
  searchedKinds,
  type SearchableIdPrefix,
  type ParsedConsoleSearchText,
} from "./search-terms.ts";

export interface ConsoleSearchHit {
  readonly kind: string;
  readonly id: string;
  readonly title: string;
  /** The path below /console of the page that shows the object, or of the list with the object. */
  readonly to: string;
  /** True if the page at the path `to` is only about the found object. False if the page is a list. */
  readonly isOwnPage: boolean;
  /**
   * The status of the object that was found, as an enum value or HTTP status; undefined if the object has no
   * status.
   */
  readonly status?: string;
  readonly facts: string;
  /** The time of the search result in RFC 3339; undefined if no time is shown. */
  readonly at?: string;
}

export interface ConsoleSearchResult {
  readonly hits: readonly ConsoleSearchHit[];
  /**
   * True if the search has skipped some API keys, installations or staff accounts, because it reads only a
   * limited number of them.
   */
  readonly isPartial: boolean;
}

const orderHit = ({ id, number, status, placedAt, totals }: FoundOrder): ConsoleSearchHit => ({
  kind: searchedKinds.ord,
  id,
  title: `Order ${number}`,
  to: `/orders/${id}`,
  isOwnPage: true,
  status,
  facts: formatMoney(totals.total),
  at: placedAt,
});

const installationHit = ({ id, status, app }: FoundInstallation): ConsoleSearchHit => ({
  kind: searchedKinds.ins,
  id,
  title: app.name,
  to: `/installations/${id}`,
  isOwnPage: true,
  status,
  facts: "",
});

const keyHit = ({
  id,
  name,
  prefix,
  lastFour,
  installation,
  ...credential
}: FoundApiKey): ConsoleSearchHit => ({
  kind: searchedKinds.key,
  id,
  title: name,
  to: `/keys?installation=${installation.id}`,
  isOwnPage: false,
  status: getCredentialState(credential, Date.now()),
  facts: `${prefix}…${lastFour}, of ${installation.app.name}`,
});

const endpointHit = ({ id, url, description, status }: FoundWebhookEndpoint): ConsoleSearchHit => ({
  kind: searchedKinds.whe,
  id,
  title: url,
  to: `/endpoints/${id}`,
  isOwnPage: true,
  status,
  facts: description ?? "",
});

const staffHit = ({ id, name, email, disabledAt }: FoundStaff): ConsoleSearchHit => ({
  kind: searchedKinds.stf,
  id,
  title: name,
  to: "/staff",
  isOwnPage: false,
  ...(disabledAt === null ? {} : { status: "DISABLED" }),
  facts: email,
});

/**
 * Creates the search result for a part of an order or for a checkout session. The result links to the page of
 * the order; if there is no order, to the page of the cart.
 */
function partHit(
  prefix: SearchableIdPrefix,
  { id, status, orderId, cartId }: FoundCheckoutSessionOrOrderPart,
): ConsoleSearchHit {
  const kind = searchedKinds[prefix];
  const to =
    orderId === null ? (cartId === undefined ? "/orders" : `/carts/${cartId}`) : `/orders/${orderId}`;
  const facts =
    orderId === null
      ? cartId === undefined
        ? "without an order"
        : `of the cart ${cartId}`
      : `of the order ${orderId}`;
  return {
    kind,
    id,
    title: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
    to,
    isOwnPage: false,
    status,
    facts,
  };
}

type Finder = (id: string) => Promise<readonly ConsoleSearchHit[]>;

/**
 * Creates a function that finds an object by its id with a GraphQL document, whose result is null for an
 * unknown id.
 */
const finder =
  <Result, Found>(
    document: ConsoleGraphqlDocument<Result, { readonly id: string }>,
    read: (result: Result) => Found | null,
    hit: (found: Found) => ConsoleSearchHit,
  ): Finder =>
  async (id) => {
    const found = read(await sendGraphqlRequest(document, { id }));
    return found === null ? [] : [hit(found)];
  };

const partFinder = (
  prefix: SearchableIdPrefix,
  document: ConsoleGraphqlDocument<
    { found: FoundCheckoutSessionOrOrderPart | null },
    { readonly id: string }
  >,
): Finder =>
  finder(
    document,
    ({ found }) => found,
    (found) => partHit(prefix, found),
  );

const finders: Readonly<Record<SearchableIdPrefix, Finder>> = {
  ord: finder(findOrderDocument, ({ order }) => order, orderHit),
  cart: finder(
    findCartDocument,
    ({ cart }) => cart,
    ({ id, status, updatedAt, totals }) => ({
      kind: searchedKinds.cart,
      id,
      title: "Cart",
      to: `/carts/${id}`,
      isOwnPage: true,
      status,
      facts: formatMoney(totals.total),
      at: updatedAt,
    }),
  ),
  chs: partFinder("chs", findSessionDocument),
  pay: partFinder("pay", findPaymentDocument),
  rfd: partFinder("rfd", findRefundDocument),
  ful: partFinder("ful", findFulfillmentDocument),
  ret: partFinder("ret", findReturnDocument),
  ins: finder(findInstallationDocument, ({ installation }) => installation, installationHit),
  key: finder(findKeyDocument, ({ apiKey }) => apiKey, keyHit),
  whe: finder(findEndpointDocument, ({ webhookEndpoint }) => webhookEndpoint, endpointHit),
  whd: finder(
    findDeliveryDocument,
    ({ webhookDelivery }) => webhookDelivery,
    ({ id, status, event }) => ({
      kind: searchedKinds.whd,
      id,
      title: event.type,
      to: `/deliveries/${id}`,
      isOwnPage: true,
      status,
      facts: "",
      at: event.occurredAt,
    }),
  ),
  evt: findEventDeliveries,
  req: finder(
    findRequestDocument,
    ({ apiRequest }) => apiRequest,
    ({ id, method, operation, status, at }) => ({
      kind: searchedKinds.req,
      id,
      title: `${method} ${getApiOperationPath(operation) ?? operation}`,
      to: `/requests/${id}`,
      isOwnPage: true,
      status: String(status),
      facts: operation,
      at,
    }),
  ),
  stf: async (id) => {
    const { staffAccounts } = await sendGraphqlRequest(findStaffDocument, {});
    return getGraphqlConnectionNodes(staffAccounts)
      .filter((member) => member.id === id)
      .map(staffHit);
  },
};

/**
 * Finds the deliveries of an event. They are shown as search results, because the console has no page for
 * events.
 */
async function findEventDeliveries(id: string): Promise<readonly ConsoleSearchHit[]> {
  const { installations } = await sendGraphqlRequest(findEventDocument, { id });
  return getGraphqlConnectionNodes(installations).flatMap(({ app, webhookEvent }) => {
    if (webhookEvent === null) return [];
    const { type, occurredAt, deliveries } = webhookEvent;
    return deliveries.map(({ id: deliveryId, status }) => ({
      kind: searchedKinds.whd,
      id: deliveryId,
      title: type,
      to: `/deliveries/${deliveryId}`,
      isOwnPage: true,
      status,
      facts: `to ${app.name}`,
      at: occurredAt,
    }));
  });
}

/**
 * Returns the listed objects that match the searched text as search results: first orders, then apps,
 * endpoints, keys and staff.
 */
export function searchListedConsoleObjects(
  text: string,
  found: ConsoleNameSearchQueryResult,
): ConsoleSearchResult {
  const installations = getGraphqlConnectionNodes(found.installations);
  const endpoints = installations.flatMap(({ webhookEndpointList }) => webhookEndpointList.endpoints);
  return {
    hits: [
      ...getGraphqlConnectionNodes(found.orders).map(orderHit),
      ...installations
        .filter(({ app }) => containsIgnoringCaseAndAccents(text, app.name))
        .map(installationHit),
      ...endpoints
        .filter(({ url, description }) => containsIgnoringCaseAndAccents(text, url, description))
        .map(endpointHit),
      ...getGraphqlConnectionNodes(found.apiKeys)
        .filter(
          ({ name, prefix, lastFour }) =>
            containsIgnoringCaseAndAccents(text, name, prefix) || text === lastFour,
        )
        .map(keyHit)
        .toReversed(),
      ...getGraphqlConnectionNodes(found.staffAccounts)
        .filter(({ name, email }) => containsIgnoringCaseAndAccents(text, name, email))
        .map(staffHit),
    ],
    isPartial:
      found.apiKeys.pageInfo.hasPreviousPage ||
      found.installations.pageInfo.hasNextPage ||
      found.staffAccounts.pageInfo.hasNextPage,
  };
}

export async function searchConsole(term: ParsedConsoleSearchText): Promise<ConsoleSearchResult> {
  if (term.kind === "id") return { hits: await finders[term.prefix](term.id), isPartial: false };
  if (term.kind !== "name") return { hits: [], isPartial: false };
  const number = parseOrderNumber(term.text);
  return searchListedConsoleObjects(term.text, await sendGraphqlRequest(namedObjectsDocument, { number }));
}
