/** The GraphQL query for the report on searches. */
import {
  readSearchReport,
  type SearchFigures,
  type SearchReport,
} from "#commerce/reports/shopping-report.ts";
import { clientsPerQueryMin } from "#commerce/search/search-counts.ts";
import type { Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { getMerchantIdForListQuery, merchantReaders } from "#graph/context.ts";
import {
  reportListCost,
  computeListReportCost,
  ReportPeriodRef,
  parseReportPeriod,
  reportTotalsCost,
  listLengthArgs,
  requireReportListLengthWithinLimit,
  reportArgs,
} from "./report-period.ts";

const SearchFiguresType = builder.interfaceRef<SearchFigures>("SearchFigures").implement({
  description:
    "Figures about searches by buyers, over REST and in storefronts; only the first page of a search " +
    `counts. For privacy, a query does not count if fewer than ${clientsPerQueryMin} clients searched for ` +
    "it on one day in one country, if it contains an e-mail address, or if it contains a number of nine or " +
    "more digits that is not a GTIN (a possible phone, account or card number). Names of people are not " +
    "detected.",
  fields: (t) => ({
    searches: t.exposeInt("searches", { description: "The number of searches by buyers." }),
    empty: t.exposeInt("empty", {
      description:
        "The number of searches by buyers that found no product, after spelling correction and with the " +
        "filters that were set.",
    }),
  }),
});

const SearchTotalsType = builder.objectRef<SearchReport["totals"]>("SearchTotals").implement({
  description: "Figures about all searches that the report counts.",
  interfaces: [SearchFiguresType],
  fields: (t) => ({
    queries: t.exposeInt("queries", { description: "The number of different search queries." }),
  }),
});

const SearchReportRowType = builder.objectRef<SearchReport["top"][number]>("SearchReportRow").implement({
  description: "Figures about one search query.",
  interfaces: [SearchFiguresType],
  fields: (t) => ({
    query: t.exposeString("query", {
      description: "The normalized search query: lower case, without accents, divided into words.",
    }),
  }),
});

const SearchReportType = builder
  .objectRef<SearchReport & { readonly period: Period }>("SearchReport")
  .implement({
    description:
      "A report on the searches of buyers. A merchant's report counts searches among the merchant's own " +
      "products and searches among the products of all merchants, but no searches among another merchant's " +
      "products.",
    fields: (t) => ({
      period: t.expose("period", {
        type: ReportPeriodRef,
        complexity: reportTotalsCost,
        description: "The period of the report, in days of UTC.",
      }),
      totals: t.expose("totals", {
        type: SearchTotalsType,
        complexity: reportTotalsCost,
        description: "Figures about all searches of the period.",
      }),
      top: t.field({
        type: [SearchReportRowType],
        description: "The most frequent search queries. The query with the most searches comes first.",
        complexity: reportListCost,
        resolve: ({ top }) => top,
      }),
      withoutResults: t.field({
        type: [SearchReportRowType],
        description:
          "The search queries that most often found no product. The query with the most searches without a " +
          "result comes first.",
        complexity: reportListCost,
        resolve: ({ withoutResults }) => withoutResults,
      }),
    }),
  });

const utcArgs = builder.args((t) => ({
  timeZone: t.string({
    description:
      "An IANA time zone, which has no effect, because searches are counted by days of UTC. The argument " +
      "exists because all other reports have it.",
  }),
}));

builder.queryField("searchReport", (t) =>
  t.field({
    type: SearchReportType,
    description:
      "Reports the most frequent searches and the searches without results, by days of UTC. A search " +
      "appears in the report within ten seconds.",
    authScopes: { callers: merchantReaders },
    complexity: computeListReportCost,
    args: {
      ...reportArgs,
      ...listLengthArgs,
      ...utcArgs,
      country: t.arg({
        type: "CountryCode",
        description: "Limits the report to searches for products that are sold to this country.",
      }),
    },
    resolve: async (_root, { country, first, ...args }, context) => {
      requireReportListLengthWithinLimit(context, first);
      parseReportPeriod(args);
      const period = parseReportPeriod({ ...args, timeZone: "UTC" });
      const { from, to } = period;
      const query = {
        merchantId: getMerchantIdForListQuery(context, args.merchantId),
        country: country ?? null,
        from,
        to,
        first,
      };
      return { period, ...(await context.services.readOnly((reader) => readSearchReport(reader, query))) };
    },
  }),
);
