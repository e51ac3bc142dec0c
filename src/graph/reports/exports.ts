/**
 * The GraphQL types, query and mutations of exports, for analysts and back offices. An export is a job that
 * writes all orders, payments or other rows of a period into a file. `GET /exports/ID.ndjson` returns the
 * file.
 */
import {
  cancelExportJob,
  queueExportJob,
  exportRetentionHours,
  type ExportJobRow,
  exportSettleSeconds,
  findExportJob,
  buildExportJobSqlQuery,
  storedExportsMax,
  unfinishedExportsMax,
} from "#commerce/exports/export-jobs.ts";
import { type ExportKind, listExportColumns } from "#commerce/exports/export-kinds.ts";
import { exportRowsMax } from "#commerce/exports/write-export.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { getCallerMerchantId, getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import { exportMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";

const ExportKindEnum = defineGraphqlEnum<ExportKind>("ExportKind", {
  description: "The kind of rows that an export contains. No kind contains personal data of buyers.",
  values: {
    orders: "The rows are the orders that were placed in the period of the export.",
    order_lines: "The rows are the lines of orders that were placed in the period of the export.",
    payments: "The rows are payments, including payments of checkouts that placed no order.",
    refunds: "The rows are refunds, including refunds of payments without an order.",
    returns: "The rows are the returns that were requested in the period of the export.",
    fulfillments: "The rows are the fulfillments that were created in the period of the export.",
    products: "The rows are products in every status. The title is in the merchant's default locale.",
    stock_movements: "The rows are changes of the number of units on hand of variants.",
  },
});

const ExportFormatEnum = defineGraphqlEnum<ExportJobRow["format"]>("ExportFormat", {
  description: "The format of an export's file.",
  values: { ndjson: "Newline-delimited JSON in UTF-8: each line is a JSON object with one row." },
});

const ExportStatusEnum = defineGraphqlEnum<ExportJobRow["status"]>("ExportStatus", {
  description: "Whether an export is waiting, running, completed, failed or canceled.",
  values: {
    queued: "The export waits for a worker.",
    running: "A worker is writing the export's file.",
    completed: "The export's file is complete and can be downloaded.",
    failed: "The export ended without a file; `failure` has the reason.",
    canceled: "`exportCancel` ended the export, or deleted its file.",
  },
});

const ExportFailureEnum = defineGraphqlEnum<NonNullable<ExportJobRow["failure"]>>("ExportFailure", {
  description: "The reason why an export failed.",
  values: {
    too_many_rows: `The period has more than ${exportRowsMax} rows. Choose a shorter period.`,
    read_failed: "The rows could not be read in several attempts. Create the export again later.",
  },
});

/**
 * Returns how many percent of an export's rows have been written, as an integer; 100 only for a completed
 * export.
 */
function getPercent({ status, exportedRows, totalRows }: ExportJobRow): number {
  if (status === "completed") return 100;
  return totalRows === null || totalRows === 0
    ? 0
    : Math.min(99, Math.floor((100 * exportedRows) / totalRows));
}

const Export = builder.objectRef<ExportJobRow>("Export").implement({
  description:
    "A job that writes all rows of one kind that were created in a period into a file. The service reads " +
    "the rows of a file at different moments; each row has the state at the moment when it was read.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The export's id, `exp_…`." }),
    merchantId: t.exposeID("merchantId", {
      description: "The id of the merchant whose rows are exported, `mer_…`.",
    }),
    kind: t.expose("kind", {
      type: ExportKindEnum,
      description: "The kind of the rows that the export contains, for example orders.",
    }),
    format: t.expose("format", { type: ExportFormatEnum, description: "The format of the file." }),
    status: t.expose("status", { type: ExportStatusEnum, description: "The status of the export." }),
    from: t.expose("periodStart", {
      type: "DateTime",
      nullable: true,
      description: "The start of the period, included; null if the export begins with the oldest row.",
    }),
    to: t.expose("periodEnd", {
      type: "DateTime",
      description: "The end of the period, excluded.",
    }),
    columns: t.stringList({
      description: "The names of the columns. Each row of the file has its values in this order.",
      resolve: ({ kind }) => [...listExportColumns(kind)],
    }),
    exportedRows: t.exposeInt("exportedRows", {
      description: `The number of rows that were written to the file so far, 0 to ${exportRowsMax}.`,
    }),
    totalRows: t.exposeInt("totalRows", {
      nullable: true,
      description:
        "The estimated number of rows of the export: the number of rows in the period when the export " +
        `began, at most ${exportRowsMax}. Rows may be deleted before they are written. Null before the ` +
        "first rows are written.",
    }),
    percent: t.int({
      description:
        "The share of the rows that were written to the file so far, in percent, 0 to 100; 100 only if the " +
        "export is completed.",
      resolve: getPercent,
    }),
    sizeBytes: t.exposeFloat("sizeBytes", {
      description: "The size of the part of the file that was written so far, in bytes; a whole number.",
    }),
    failure: t.expose("failure", {
      type: ExportFailureEnum,
      nullable: true,
      description: "The reason why the export failed; null if the export has not failed.",
    }),
    url: t.field({
      type: "URL",
      nullable: true,
      description:
        "The URL of the file, for internal tokens and for a session of the console; null if the export is " +
        "not completed. A client can continue an interrupted download with a `Range` request.",
      resolve: ({ id, status }, _args, { publicUrl }) =>
        status === "completed" ? `${publicUrl}/exports/${id}.ndjson` : null,
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the export was created." }),
    finishedAt: t.expose("finishedAt", {
      type: "DateTime",
      nullable: true,
      description: "When the export was completed, failed or was canceled; null if the export has not ended.",
    }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description:
        `When the export and its file are deleted: ${exportRetentionHours} hours after the last rows were ` +
        "written.",
    }),
  }),
});

const ExportCreateInput = builder.inputType("ExportCreateInput", {
  description: "The rows to export.",
  fields: (t) => ({
    kind: t.field({
      type: ExportKindEnum,
      required: true,
      description: "The kind of the rows that the export contains, for example orders.",
    }),
    from: t.field({
      type: "DateTime",
      description:
        "The start of the period in which the exported rows were created, included; must be before `to`. " +
        "If left out, the export begins with the oldest row.",
    }),
    to: t.field({
      type: "DateTime",
      description:
        "The end of the period in which the exported rows were created, excluded; must not be in the " +
        `future. Default: ${exportSettleSeconds} seconds ago. With a later end, a worker begins the export ` +
        `${exportSettleSeconds} seconds after the end, so that the export misses no row.`,
    }),
    format: t.field({
      type: ExportFormatEnum,
      required: true,
      defaultValue: "ndjson",
      description: "The format of the file; `NDJSON` by default.",
    }),
  }),
});

const ExportCancelInput = builder.inputType("ExportCancelInput", {
  description: "The export to cancel.",
  fields: (t) => ({
    exportId: t.id({ required: true, description: "The id of the export, `exp_…`." }),
  }),
});

defineMutation({
  ...exportMutationKind,
  name: "exportCreate",
  description:
    "Creates an export, whose file a worker then writes. Creating an export changes no data of the " +
    `merchant, so analysts may create exports. A merchant has at most ${unfinishedExportsMax} unfinished ` +
    `and ${storedExportsMax} stored exports; a further export is refused (export_limit_reached). An export ` +
    `has at most ${exportRowsMax} rows.`,
  failures: ["export_limit_reached"],
  input: ExportCreateInput,
  type: Export,
  run: queueExportJob,
});

defineMutation({
  ...exportMutationKind,
  name: "exportCancel",
  description:
    "Cancels an export that has not ended, or deletes the file of a completed export. If the export has " +
    "failed or was canceled before, nothing changes.",
  failures: ["resource_not_found"],
  input: ExportCancelInput,
  type: Export,
  run: (transaction, context, { exportId }) => cancelExportJob(transaction, context, exportId),
});

// Reads exports from the primary database, because the state of an export on a replica may be outdated.
builder.queryFields((t) => ({
  export: t.field({
    type: Export,
    nullable: true,
    description:
      "The export with the given id; null if the export does not exist, has expired or belongs to another " +
      "merchant.",
    authScopes: { callers: merchantReaders },
    args: { id: t.arg.id({ required: true, description: "The export's id, `exp_…`." }) },
    resolve: (_root, { id }, context) =>
      findExportJob(context.services.db, id, {
        merchantId: getCallerMerchantId(context),
        now: context.clock.now(),
      }),
  }),
  exports: t.connection(
    {
      type: Export,
      description: "Lists exports that have not expired, newest first.",
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        merchantId: t.arg.id({
          description:
            "The id of the merchant. If left out, a token of the platform gets the exports of all merchants.",
        }),
      },
      resolve: (_root, args, context) => {
        const { db } = context.services;
        const merchantId = getMerchantIdForListQuery(context, args.merchantId);
        const query = buildExportJobSqlQuery(db, { merchantId, now: context.clock.now() }).selectAll(
          "exportJob",
        );
        return loadGraphqlConnection(args, {
          db,
          query,
          column: "export_job.id",
          cursor: "export",
          isDescending: true,
        });
      },
    },
    ...createGraphqlConnectionTypeOptions("Export", "exports"),
  ),
}));
