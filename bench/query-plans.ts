/**
 * Explains the SQL statements of GraphQL queries. The queries run in this process, on the database of the
 * measured service, with the schema and resolvers of the service. Each statement then runs again with EXPLAIN
 * (ANALYZE, BUFFERS).
 */
import { stripeApiBase } from "#commerce/payments/stripe/stripe-client.ts";
import { graphql } from "graphql";
import { CompiledQuery, sql } from "kysely";
import { z } from "zod";
import { createGraphqlServices, createEventSubjectRenderer } from "#app/services.ts";
import { type Database, openDatabase } from "#database/connect.ts";
import { createIdempotentRequestRunner } from "#database/idempotency.ts";
import { createReportQueryRunner } from "#database/read-only.ts";
import { runInTransaction } from "#database/transaction.ts";
import { systemClock } from "#foundation/clock.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { createGraphqlContext } from "#graph/context.ts";
import { openGraphqlMesh } from "#mesh/open-mesh.ts";
import { createEndpointHostNameChecker } from "#webhooks/endpoint-url.ts";

/** The plan of one statement. */
export interface StatementPlan {
  readonly milliseconds: number;
  /** Pages of 8 KB that the statement read, from the buffers of PostgreSQL or from files. */
  readonly pages: number;
  /** Rows of tables that the statement read, including the rows that a filter removed. */
  readonly rowsRead: number;
  /**
   * The indexes that the statement read, and the tables that it read without an index; the ones with the most
   * pages first.
   */
  readonly paths: readonly string[];
  /** Whether the statement selects a page of a list, or counts the entries of a list. */
  readonly selectsPage: boolean;
  /** The whole plan; empty if the caller wants no texts, for which each statement runs once more. */
  readonly text: string;
}

export interface PlanReader {
  /** Runs a GraphQL query as an admin of the merchant with the most orders, and returns its data. */
  ask(query: string): Promise<unknown>;
  /** Runs a GraphQL query, and returns the plans of its statements in the order in which they ran. */
  explain(query: string, withTexts?: boolean): Promise<StatementPlan[]>;
  close(): Promise<void>;
}

/** A node of a plan, as PostgreSQL prints it in JSON. */
const planNode = z.object({
  "Node Type": z.string(),
  "Relation Name": z.string().optional(),
  "Index Name": z.string().optional(),
  "Actual Rows": z.number(),
  "Actual Loops": z.number(),
  "Rows Removed by Filter": z.number().optional(),
  "Rows Removed by Index Recheck": z.number().optional(),
  "Shared Hit Blocks": z.number(),
  "Shared Read Blocks": z.number(),
  get Plans() {
    return z.array(planNode).optional();
  },
});
type PlanNode = z.infer<typeof planNode>;
const explained = z.tuple([z.object({ Plan: planNode, "Execution Time": z.number() })]);

const changesSettings = /^\s*(?:set |select set_config)/;
const hasLimit = /limit \$\d/;
const readsRows = /^\s*(?:select|with) /;

export async function openPlanReader(url: string): Promise<PlanReader> {
  const captured: CompiledQuery[] = [];
  const database = await openDatabase({ url, onStatement: ({ query }) => captured.push(query) });
  const { db } = database;
  const mesh = await openGraphqlMesh();
  const keyring = createEncryptionKeyring([{ id: "bench", key: Buffer.alloc(32, 7) }]);
  const services = createGraphqlServices(
    {
      db,
      readOnly: createReportQueryRunner(db, { timeoutMs: 60_000 }),
      clock: systemClock,
      publicUrl: "",
      rateLimitScale: 0,
      cartRetentionDays: 731,
      keyring,
      doOnce: createIdempotentRequestRunner({ db, keyring, clock: systemClock }),
      events: createInProcessEventEmitter(),
      resolvedNames: createEndpointHostNameChecker(),
      isLoopbackAllowed: false,
      stripeApiBase,
    },
    createEventSubjectRenderer(mesh),
  );
  const { rows } = await sql<{ id: string }>`
    select merchant_id as id from sales_order group by 1 order by count(*) desc limit 1`.execute(db);
  const merchantId = rows[0]?.id ?? "";
  const ask = async (query: string): Promise<unknown> => {
    const { data, errors } = await graphql({
      schema: mesh.schema,
      source: `{ ${query} }`,
      contextValue: createGraphqlContext(services, {
        viewer: { kind: "internal", staffId: "bench", role: "admin", merchantId },
        requestId: "",
      }),
    });
    if (errors?.[0] !== undefined) throw errors[0];
    return data;
  };
  return {
    ask,
    explain: async (query, withTexts = true) => {
      captured.length = 0;
      await ask(query);
      return explainStatements(db, { statements: captured.slice(), withTexts });
    },
    close: async () => {
      mesh.close();
      await database.close();
    },
  };
}

/** Runs the statements again in one transaction, with the settings of the transaction of a report. */
function explainStatements(
  db: Database,
  { statements, withTexts }: { readonly statements: readonly CompiledQuery[]; readonly withTexts: boolean },
): Promise<StatementPlan[]> {
  return runInTransaction(db, async (transaction) => {
    const plans: StatementPlan[] = [];
    for (const { sql: text, parameters } of statements) {
      if (changesSettings.test(text))
        await transaction.executeQuery(CompiledQuery.raw(text, [...parameters]));
      if (changesSettings.test(text) || !readsRows.test(text)) continue;
      const run = async (options: string): Promise<unknown[]> => {
        const statement = CompiledQuery.raw(`explain (${options}) ${text}`, [...parameters]);
        const { rows } = await transaction.executeQuery<Record<string, unknown>>(statement);
        return rows.flatMap((row) => Object.values(row));
      };
      const [json] = await run("analyze, buffers, format json");
      const [{ Plan: root, "Execution Time": milliseconds }] = explained.parse(json);
      plans.push({
        milliseconds,
        pages: pagesOf(root),
        rowsRead: countRowsRead(root),
        paths: pathsOf(root),
        selectsPage: hasLimit.test(text),
        text: withTexts ? (await run("analyze, buffers, costs off")).join("\n") : "",
      });
    }
    return plans;
  });
}

const pagesOf = (node: PlanNode): number => node["Shared Hit Blocks"] + node["Shared Read Blocks"];

function countRowsRead(node: PlanNode): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const own =
    node["Relation Name"] === undefined ? 0 : (node["Actual Rows"] + removed) * node["Actual Loops"];
  return (node.Plans ?? []).reduce((sum, child) => sum + countRowsRead(child), own);
}

/** The indexes of a plan, and the tables that are read as a whole, by falling number of pages. */
function pathsOf(root: PlanNode): string[] {
  const pages = new Map<string, number>();
  const visit = (node: PlanNode): void => {
    const path = node["Node Type"] === "Seq Scan" ? `all of ${node["Relation Name"]}` : node["Index Name"];
    if (path !== undefined) pages.set(path, (pages.get(path) ?? 0) + pagesOf(node));
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(root);
  return [...pages].toSorted(([, one], [, other]) => other - one).map(([path]) => path);
}
