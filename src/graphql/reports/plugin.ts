/**
 * Serves reports as CSV: `GET /reports/NAME.csv`, with the same tokens, roles and limits as the reports in
 * GraphQL. Staff members who are signed in to the console can download the reports through links on its
 * pages.
 */
import type { FastifyPluginAsync } from "fastify";
import type { GraphQLError } from "graphql";
import { type Failure, createFailure, type FailureDetail, toFailure } from "#foundation/failure.ts";
import { isCalendarDay } from "#foundation/period.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import { reportFileRowsMax } from "#graph/limits.ts";
import { createGraphqlContext, type GraphqlServices } from "#graph/context.ts";
import { PublicGraphqlError } from "#mesh/public-error.ts";
import type { GraphqlDocumentRunner } from "#mesh/run.ts";
import {
  getRateLimitKeyOfAddress,
  type InternalTokenOrStaffAuthenticator,
  addCredentialIdToRequestLog,
} from "#graphql/authenticate.ts";
import { countGraphqlRequestAgainstQuotas, createGraphqlCostCharger } from "#graphql/quotas.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import { type CsvReportDefinition, csvReports } from "./csv-reports.ts";
import { type CsvReportRow, formatCsvReport } from "./csv-table.ts";

export interface ReportsPluginOptions {
  readonly run: GraphqlDocumentRunner;
  readonly services: GraphqlServices;
  readonly authentication: InternalTokenOrStaffAuthenticator;
  readonly limiter: RateLimiter;
}

export const csvReportsPlugin: FastifyPluginAsync<ReportsPluginOptions> = async (
  server,
  { run, services, authentication, limiter },
) => {
  server.get<{ Params: { file: string }; Querystring: Record<string, string | string[]> }>(
    "/reports/:file",
    async (request, reply) => {
      const viewer = await authentication.authenticateDownload(request);
      addCredentialIdToRequestLog(request, viewer);
      await countGraphqlRequestAgainstQuotas({ viewer, limiter }, reply);
      const name = request.params.file.endsWith(".csv") ? request.params.file.slice(0, -".csv".length) : "";
      const report = csvReports.get(name);
      if (report === undefined)
        throw createFailure("route_not_found", {
          message: `The report is unknown. Reports are ${[...csvReports.keys()].map((known) => `${known}.csv`).join(", ")}.`,
        });
      const given = toVariables(report, request.query);
      const rowsMax = getRowsMax(report, given);
      // The query requests one row more than the file may have. If this additional row is returned, the
      // report does not fit into the file.
      const variables = rowsMax === undefined ? given : { ...given, first: rowsMax + 1 };
      const client = getRateLimitKeyOfAddress(request);
      const context = createGraphqlContext(services, {
        viewer,
        requestId: request.id,
        client,
        isReportFile: true,
        spendCost: createGraphqlCostCharger({ address: client, viewer, limiter }),
      });
      const { data, errors } = await run(report.document, context, { variables });
      const [error] = errors ?? [];
      if (error !== undefined) throw toQueryFailure(error);
      const { rows, isTruncated } = limitRows(report.toRows(data), report, rowsMax);
      return reply
        .header("cache-control", "no-store")
        .header("x-truncated", String(isTruncated))
        .header("content-disposition", `attachment; filename="${fileNameOf(name, given)}.csv"`)
        .type("text/csv; charset=utf-8")
        .send(formatCsvReport(report.columns, rows));
    },
  );
};

const fileNameOf = (name: string, { from, to }: Variables): string =>
  from === undefined ? name : `${name}-${from}-${to}`;

type Variables = Readonly<Record<string, string | number>>;

/** Reads the query parameters of a CSV report. Throws one failure with all faults of the parameters. */
function toVariables(
  { parameters, hasPeriod }: CsvReportDefinition,
  query: Readonly<Record<string, string | string[]>>,
): Variables {
  const rules = new Map<string, Rule>(Object.entries({ ...(hasPeriod ? periodRules : {}), ...parameters }));
  const faults: FailureDetail[] = [];
  for (const field of hasPeriod ? Object.keys(periodRules) : [])
    if (!Object.hasOwn(query, field))
      faults.push({ in: "query", field, code: "required", message: `${field} is required, as YYYY-MM-DD.` });
  if (faults.length > 0)
    throw createFailure("missing_parameter", { message: faults[0]?.message ?? "", details: faults });
  const values = Object.entries(query).map(([field, value]): [string, string | number] => {
    const rule = rules.get(field);
    if (rule === undefined) throw unknownParameter(field, [...rules.keys()]);
    const broken = typeof value === "string" ? brokenRule(rule, value) : "must occur once.";
    if (broken !== undefined)
      faults.push({ in: "query", field, code: "invalid_format", message: `${field} ${broken}` });
    return [field, toVariable(rule, String(value))];
  });
  if (faults.length > 0)
    throw createFailure("invalid_parameter", { message: faults[0]?.message ?? "", details: faults });
  return Object.fromEntries(values);
}

/** Returns the maximum number of rows of each list in the CSV file; undefined if the report has no maximum. */
const getRowsMax = (
  { parameters }: CsvReportDefinition,
  { first = reportFileRowsMax }: Variables,
): number | undefined => (parameters["first"] === "rows" ? Number(first) : undefined);

/** Keeps only the first `rowsMax` rows of each list of the report. */
function limitRows(
  rows: readonly CsvReportRow[],
  { listColumn = "" }: CsvReportDefinition,
  rowsMax = Number.POSITIVE_INFINITY,
): { readonly rows: readonly CsvReportRow[]; readonly isTruncated: boolean } {
  const counts = new Map<unknown, number>();
  const kept = rows.filter((row) => {
    const count = (counts.get(row[listColumn]) ?? 0) + 1;
    counts.set(row[listColumn], count);
    return count <= rowsMax;
  });
  return { rows: kept, isTruncated: kept.length < rows.length };
}

const periodRules = { from: "day", to: "day" } as const;

type Rule = "day" | CsvReportDefinition["parameters"][string];

function unknownParameter(field: string, allowed: readonly string[]): Failure {
  const shown = isTextWithoutForbiddenCharacters(field) ? field.slice(0, 100) : "";
  const message = `The report does not have the parameter "${shown}". Its parameters are ${allowed.join(", ")}.`;
  return createFailure("unknown_parameter", {
    message,
    details: [{ in: "query", field: shown, code: "unknown", message, allowed }],
  });
}

function brokenRule(rule: Rule, value: string): string | undefined {
  if (!isTextWithoutForbiddenCharacters(value))
    return "must not contain control characters or invalid Unicode.";
  if (rule === "day") return isCalendarDay(value) ? undefined : "must be an existing day, as YYYY-MM-DD.";
  if (rule === "rows")
    return /^\d{1,9}$/.test(value) && Number(value) >= 1 && Number(value) <= reportFileRowsMax
      ? undefined
      : `must be a whole number from 1 to ${reportFileRowsMax}.`;
  if (rule === "integer")
    return /^\d{1,9}$/.test(value) ? undefined : "must be a whole number of at most 9 digits.";
  if (rule === "text" || rule.includes(value.toLowerCase())) return undefined;
  return `must be one of ${rule.join(", ")}.`;
}

/**
 * Converts the value of a CSV report's query parameter to the value of the GraphQL variable with the same
 * name.
 */
function toVariable(rule: Rule, value: string): string | number {
  if (rule === "integer" || rule === "rows") return Number(value);
  return Array.isArray(rule) ? value.toUpperCase() : value;
}

/** Converts an error about a GraphQL argument to a failure about the query parameter with the same name. */
function toQueryFailure(error: GraphQLError): Failure {
  // The property `cause` of the GraphQL error contains the failure of a custom GraphQL scalar that refused
  // the value.
  const raised = error instanceof PublicGraphqlError ? error.cause : error;
  const failure = toFailure(raised);
  const { details, ...parts } = failure.parts;
  if (details === undefined || failure.code === "rate_limited") return failure;
  // The name of a variable with a value of the wrong type occurs only in the message of the GraphQL error.
  const variable = /^Variable "\$(\w+)"/.exec(raised instanceof Error ? raised.message : "")?.[1] ?? "";
  const ofParameters = details.map(({ field, code, message, allowed = null }): FailureDetail => {
    return {
      in: "query",
      field: field.replace(/^\//, "") || variable,
      code,
      message: withoutPointer(message),
      allowed,
    };
  });
  // An invalid country in GraphQL has the failure code `unknown_market`, which the REST API uses for its
  // parameter `market`. The CSV report has no such parameter, so this code becomes `invalid_parameter`.
  const isInvalid = failure.code === "invalid_field" || failure.code === "unknown_market";
  const code = isInvalid ? "invalid_parameter" : failure.code;
  return createFailure(code, { ...parts, message: withoutPointer(failure.message), details: ofParameters });
}

/** Removes the JSON Pointer with which some error messages begin, such as `/first: `. */
const withoutPointer = (message: string): string => message.replace(/^\/(?=\w+: )/, "");
