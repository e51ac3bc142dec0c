/** The report on what was searched for. */
import {
  readSearchReport,
  type SearchFigures,
  type SearchReport,
} from "#commerce/reports/shopping-report.ts";
import { clientsPerQueryMin } from "#commerce/search/search-counts.ts";
import type { Period } from "#foundation/period.ts";
import { builder } from "#graph/builder.ts";
import { listedOwner, readers } from "#graph/context.ts";
import {
  reportListCost,
  listReportCost,
  ReportPeriodRef,
  parseReportPeriod,
  reportTotalsCost,
  listLengthArgs,
  reportArgs,
} from "./report-period.ts";

const Figures = builder.interfaceRef<SearchFigures>("SearchFigures").implement({
  description: `Searches by buyers, over REST and by storefronts, first pages alone. What fewer than ${clientsPerQueryMin} clients searched for on a day, in a country, is not known, nor what has an e-mail address in it, or a number of nine digits or more that is no GTIN (of a telephone, an account, a card). A name is not recognised.`,
  fields: (t) => ({
    searches: t.exposeInt("searches", { description: "How often something was searched for." }),
    empty: t.exposeInt("empty", {
      description:
        "Of them, how often nothing was found, with misspelt words corrected and the filters that were set.",
    }),
  }),
});

const Totals = builder.objectRef<SearchReport["totals"]>("SearchTotals").implement({
  description: "All searches that are known.",
  interfaces: [Figures],
  fields: (t) => ({ queries: t.exposeInt("queries", { description: "How many different queries." }) }),
});

const OfQuery = builder.objectRef<SearchReport["top"][number]>("SearchReportRow").implement({
  description: "One query.",
  interfaces: [Figures],
  fields: (t) => ({
    query: t.exposeString("query", {
      description: "What was searched for, without accents, in lower case, cut into words.",
    }),
  }),
});

const Report = builder.objectRef<SearchReport & { readonly period: Period }>("SearchReport").implement({
  description:
    "What was searched for. Of a merchant: among its products, and among all merchants' at once; what was searched for among another's alone is that one's.",
  fields: (t) => ({
    period: t.expose("period", {
      type: ReportPeriodRef,
      complexity: reportTotalsCost,
      description: "The time that it is about: days of UTC.",
    }),
    totals: t.expose("totals", { type: Totals, complexity: reportTotalsCost, description: "All together." }),
    top: t.field({
      type: [OfQuery],
      description: "The most frequent queries, the most frequent first.",
      complexity: reportListCost,
      resolve: ({ top }) => top,
    }),
    withoutResults: t.field({
      type: [OfQuery],
      description: "The queries that most often found nothing, the most frequent of them first.",
      complexity: reportListCost,
      resolve: ({ withoutResults }) => withoutResults,
    }),
  }),
});

const utcArgs = builder.args((t) => ({
  timeZone: t.string({
    description:
      "A name of the IANA database, as for every report; searches are counted by days of UTC all the same.",
  }),
}));

builder.queryField("searchReport", (t) =>
  t.field({
    type: Report,
    description:
      "What was searched for most, and what was not found, by days of UTC. Searches are counted within ten seconds.",
    authScopes: { callers: readers },
    complexity: listReportCost,
    args: {
      ...reportArgs,
      ...listLengthArgs,
      ...utcArgs,
      market: t.arg({ type: "CountryCode", description: "Only searches for what is sold to this country." }),
    },
    resolve: async (_root, { market, first, ...args }, context) => {
      parseReportPeriod(args);
      const period = parseReportPeriod({ ...args, timeZone: "UTC" });
      const { from, to } = period;
      const asked = {
        merchantId: listedOwner(context, args.merchantId),
        country: market ?? null,
        from,
        to,
        first,
      };
      return { period, ...(await context.services.readOnly((reader) => readSearchReport(reader, asked))) };
    },
  }),
);
