/**
 * The operations on stock: adjust the units on hand, read the stock, and read its movements. The version and
 * the units on hand are registers; the movements, each with a note that is used once, are a list.
 */
import { createGraphqlWrite, parseAnswer, requireData, type SendRequest, type Shop } from "../shop.ts";
import type { HistoryStep } from "./history.ts";
import {
  type RecordedRequest,
  toHiddenWrite,
  toVersionedRead,
  toVersionedWrite,
  toVersionSteps,
} from "./recorder.ts";

export interface SharedStock {
  readonly variantId: string;
  readonly shop: Shop;
  /** The time from which movements are read, and the beginning of the notes of this history. */
  readonly since: string;
  readonly notePrefix: string;
  /** The number of adjustments that were sent. */
  sent: number;
}

interface StockState {
  readonly stockVersion: number;
  readonly stock: { readonly onHand: number };
}

/** A page of movements has 100, so more adjustments of one variant would not be visible at once. */
export const adjustmentsMax = 90;

const stockVersionOf = (variantId: string): string => `stock version of ${variantId}`;
const onHandOf = (variantId: string): string => `units on hand of ${variantId}`;
const movementsOf = (variantId: string): string => `stock movements of ${variantId}`;

/** Reads the stock of a variant. The first read has the values with which the history of the stock begins. */
export function readStock({ variantId, shop }: SharedStock, isFirst = false): RecordedRequest {
  const query = "query ($id: ID!) { variant(id: $id) { stockVersion stock { onHand } } }";
  return {
    name: "read a stock",
    request: createGraphqlWrite(shop, { token: "admin", query, variables: { id: variantId } }).request,
    intended: [],
    toSteps: (data) => {
      const read = data["variant"] as StockState;
      const { stockVersion, stock } = read;
      if (isFirst)
        return [
          toVersionedWrite(stockVersionOf(variantId), stockVersion, stockVersion),
          toVersionedWrite(onHandOf(variantId), stock.onHand, stockVersion),
          // Requests of the part before that got no answer may still change the stock.
          toHiddenWrite(stockVersionOf(variantId)),
          toHiddenWrite(onHandOf(variantId)),
        ];
      return [
        toVersionedRead(stockVersionOf(variantId), stockVersion, stockVersion),
        toVersionedRead(onHandOf(variantId), stock.onHand, stockVersion),
      ];
    },
  };
}

/** Reads the movements since the beginning of the history, in the order of their numbers. */
export function readMovements({ variantId, shop, since, notePrefix }: SharedStock): RecordedRequest {
  const query = `query ($id: ID!, $since: DateTime!) {
    stockMovements(variantId: $id, createdFrom: $since, first: 100) { edges { node { id note } } } }`;
  const variables = { id: variantId, since };
  return {
    name: "read the movements of a stock",
    request: createGraphqlWrite(shop, { token: "admin", query, variables }).request,
    intended: [],
    toSteps: (data) => {
      const { edges } = data["stockMovements"] as {
        readonly edges: readonly { readonly node: { readonly id: string; readonly note: string | null } }[];
      };
      const values = edges
        .map(({ node }) => node)
        .toSorted((one, other) => Number(one.id) - Number(other.id))
        .flatMap(({ note }) => (note?.startsWith(notePrefix) === true ? [note] : []));
      return [{ kind: "readList", object: movementsOf(variantId), values }];
    },
  };
}

export function adjustStockOperation(stock: SharedStock): RecordedRequest {
  const { variantId, shop, notePrefix } = stock;
  stock.sent += 1;
  const [note, delta] = [`${notePrefix}${stock.sent}`, 1 + Math.floor(Math.random() * 9)];
  const query = `mutation ($key: String!, $input: StockAdjustInput!) {
    stockAdjust(idempotencyKey: $key, input: $input) { stockVersion stock { onHand } } }`;
  const input = { variantId, delta, reason: "RECEIVED", note };
  const append: HistoryStep = { kind: "append", object: movementsOf(variantId), value: note };
  return {
    name: "adjust a stock",
    request: createGraphqlWrite(shop, { token: "admin", query, variables: { input } }).request,
    intended: [append, toHiddenWrite(stockVersionOf(variantId)), toHiddenWrite(onHandOf(variantId))],
    toSteps: (data) => {
      const { stockVersion: version, stock: after } = data["stockAdjust"] as StockState;
      return [
        append,
        ...toVersionSteps(stockVersionOf(variantId), { version, seen: version - 1 }),
        // Every adjustment adds to the units on hand that it has read.
        toVersionedRead(onHandOf(variantId), after.onHand - delta, version - 1),
        toVersionedWrite(onHandOf(variantId), after.onHand, version),
      ];
    },
  };
}

/** Lists variants that the carts of the shop do not contain. */
export async function listOtherVariants(ask: SendRequest, shop: Shop): Promise<string[]> {
  const query = "{ products(first: 30) { edges { node { variants { id } } } } }";
  const { request } = createGraphqlWrite(shop, { token: "admin", query, variables: {} });
  const { products } = requireData(parseAnswer(await ask(request))) as {
    readonly products: {
      readonly edges: readonly { readonly node: { readonly variants: readonly { readonly id: string }[] } }[];
    };
  };
  return products.edges
    .flatMap(({ node }) => node.variants.map(({ id }) => id))
    .filter((id) => !shop.variantIds.includes(id));
}
