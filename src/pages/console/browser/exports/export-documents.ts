/** GraphQL documents and result types of the exports page. */
import {
  createConsoleGraphqlDocument,
  type GraphqlConnection,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export const exportRowKinds = [
  "ORDERS",
  "ORDER_LINES",
  "PAYMENTS",
  "REFUNDS",
  "RETURNS",
  "FULFILLMENTS",
  "PRODUCTS",
  "STOCK_MOVEMENTS",
] as const;
export type ConsoleExportKind = (typeof exportRowKinds)[number];

export interface ConsoleExportJob {
  readonly id: string;
  readonly kind: ConsoleExportKind;
  readonly status: "QUEUED" | "RUNNING" | "COMPLETED" | "FAILED" | "CANCELED";
  /**
   * The start of the exported period (included); null if the export has no start date and therefore begins
   * with the oldest row.
   */
  readonly from: string | null;
  /** The end of the exported period (excluded): rows with exactly this time are not in the export. */
  readonly to: string;
  readonly exportedRows: number;
  /** The number of rows in the export's period; null until the export has written its first rows. */
  readonly totalRows: number | null;
  readonly percent: number;
  readonly sizeBytes: number;
  readonly failure: "TOO_MANY_ROWS" | "READ_FAILED" | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

const fields = `id kind status from to exportedRows totalRows percent sizeBytes failure createdAt expiresAt`;

export const exportsDocument = createConsoleGraphqlDocument<
  { exports: GraphqlConnection<ConsoleExportJob> },
  { readonly after: string | null; readonly first: number }
>(`
  query ConsoleExports($after: String, $first: Int!) {
    exports(after: $after, first: $first) {
      edges { node { ${fields} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export interface ConsoleCreateExportInput {
  readonly kind: ConsoleExportKind;
  readonly from?: string;
  readonly to?: string;
}

export const createExportDocument = createConsoleGraphqlDocument<
  { exportCreate: { readonly id: string } },
  { readonly input: ConsoleCreateExportInput } & GraphqlVariablesWithIdempotencyKey
>(`
  mutation ConsoleExportCreate($input: ExportCreateInput!, $idempotencyKey: String!) {
    exportCreate(input: $input, idempotencyKey: $idempotencyKey) { id }
  }
`);

export const cancelExportDocument = createConsoleGraphqlDocument<
  { exportCancel: { readonly id: string } },
  { readonly input: { readonly exportId: string } } & GraphqlVariablesWithIdempotencyKey
>(`
  mutation ConsoleExportCancel($input: ExportCancelInput!, $idempotencyKey: String!) {
    exportCancel(input: $input, idempotencyKey: $idempotencyKey) { id }
  }
`);
