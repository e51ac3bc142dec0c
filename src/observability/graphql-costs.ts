/** What the documents cost that were let in at the graph's door; those that cost too much are among its refusals. */
import { Histogram, type Registry } from "prom-client";

const costBuckets = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000];

export function createGraphqlCosts(registry: Registry): (cost: number) => void {
  const costs = new Histogram({
    name: "commerce_graphql_document_cost",
    help: "The cost of each GraphQL document that was let in, in points.",
    buckets: costBuckets,
    registers: [registry],
  });
  return (cost) => costs.observe(cost);
}
