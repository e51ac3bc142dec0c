/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  query Orders($after: String) {\n    orders(first: 5, after: $after, sort: NEWEST_FIRST) {\n      totalCount\n      edges {\n        node {\n          id\n          number\n          placedAt\n          totals {\n            total {\n              amountMinor\n              currency\n            }\n          }\n        }\n      }\n      pageInfo {\n        endCursor\n        hasNextPage\n      }\n    }\n  }\n": typeof types.OrdersDocument,
    "\n  query Search($q: SearchText!) {\n    productSearch(q: $q, locale: \"en\", market: \"DE\", sort: RELEVANCE, page: 1, pageSize: 5) {\n      items {\n        slug\n        title\n        merchant {\n          slug\n        }\n      }\n    }\n  }\n": typeof types.SearchDocument,
    "\n  query Product($merchant: String!, $slug: String!) {\n    publicProduct(merchantSlug: $merchant, productSlug: $slug) {\n      variants {\n        id\n      }\n    }\n  }\n": typeof types.ProductDocument,
    "\n  mutation CartCreate($input: CartCreateInput!, $key: String!) {\n    cartCreate(input: $input, idempotencyKey: $key) {\n      id\n      totals {\n        total {\n          amountMinor\n          currency\n        }\n      }\n    }\n  }\n": typeof types.CartCreateDocument,
};
const documents: Documents = {
    "\n  query Orders($after: String) {\n    orders(first: 5, after: $after, sort: NEWEST_FIRST) {\n      totalCount\n      edges {\n        node {\n          id\n          number\n          placedAt\n          totals {\n            total {\n              amountMinor\n              currency\n            }\n          }\n        }\n      }\n      pageInfo {\n        endCursor\n        hasNextPage\n      }\n    }\n  }\n": types.OrdersDocument,
    "\n  query Search($q: SearchText!) {\n    productSearch(q: $q, locale: \"en\", market: \"DE\", sort: RELEVANCE, page: 1, pageSize: 5) {\n      items {\n        slug\n        title\n        merchant {\n          slug\n        }\n      }\n    }\n  }\n": types.SearchDocument,
    "\n  query Product($merchant: String!, $slug: String!) {\n    publicProduct(merchantSlug: $merchant, productSlug: $slug) {\n      variants {\n        id\n      }\n    }\n  }\n": types.ProductDocument,
    "\n  mutation CartCreate($input: CartCreateInput!, $key: String!) {\n    cartCreate(input: $input, idempotencyKey: $key) {\n      id\n      totals {\n        total {\n          amountMinor\n          currency\n        }\n      }\n    }\n  }\n": types.CartCreateDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Orders($after: String) {\n    orders(first: 5, after: $after, sort: NEWEST_FIRST) {\n      totalCount\n      edges {\n        node {\n          id\n          number\n          placedAt\n          totals {\n            total {\n              amountMinor\n              currency\n            }\n          }\n        }\n      }\n      pageInfo {\n        endCursor\n        hasNextPage\n      }\n    }\n  }\n"): (typeof documents)["\n  query Orders($after: String) {\n    orders(first: 5, after: $after, sort: NEWEST_FIRST) {\n      totalCount\n      edges {\n        node {\n          id\n          number\n          placedAt\n          totals {\n            total {\n              amountMinor\n              currency\n            }\n          }\n        }\n      }\n      pageInfo {\n        endCursor\n        hasNextPage\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Search($q: SearchText!) {\n    productSearch(q: $q, locale: \"en\", market: \"DE\", sort: RELEVANCE, page: 1, pageSize: 5) {\n      items {\n        slug\n        title\n        merchant {\n          slug\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  query Search($q: SearchText!) {\n    productSearch(q: $q, locale: \"en\", market: \"DE\", sort: RELEVANCE, page: 1, pageSize: 5) {\n      items {\n        slug\n        title\n        merchant {\n          slug\n        }\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Product($merchant: String!, $slug: String!) {\n    publicProduct(merchantSlug: $merchant, productSlug: $slug) {\n      variants {\n        id\n      }\n    }\n  }\n"): (typeof documents)["\n  query Product($merchant: String!, $slug: String!) {\n    publicProduct(merchantSlug: $merchant, productSlug: $slug) {\n      variants {\n        id\n      }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation CartCreate($input: CartCreateInput!, $key: String!) {\n    cartCreate(input: $input, idempotencyKey: $key) {\n      id\n      totals {\n        total {\n          amountMinor\n          currency\n        }\n      }\n    }\n  }\n"): (typeof documents)["\n  mutation CartCreate($input: CartCreateInput!, $key: String!) {\n    cartCreate(input: $input, idempotencyKey: $key) {\n      id\n      totals {\n        total {\n          amountMinor\n          currency\n        }\n      }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;