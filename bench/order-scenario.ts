/** Creates the scenario of orders: reading orders with an API key. */
import { Client } from "pg";
import {
  type BenchRequest,
  shuffleWithFixedSeed,
  readDocument,
  type Scenario,
  type ScenarioSource,
} from "./scenario.ts";

/**
 * Creates the scenario `order`: reads orders of the merchant with most orders. Nearly all these orders are
 * generated; they are from the last year and have all statuses.
 */
export async function createOrderScenario({
  databaseUrl,
  apiKey,
  requestsMax,
}: ScenarioSource): Promise<Scenario> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ id: string }>(
      `select id from sales_order where merchant_id =
         (select merchant_id from sales_order group by merchant_id order by count(*) desc limit 1)
       order by md5(id) limit $1`,
      [requestsMax],
    )
    .finally(() => client.end());
  const headers = { authorization: `Bearer ${apiKey}` };
  const requests = rows.map(({ id: orderId }): BenchRequest => ({
    method: "GET",
    path: `/api/v1/open/storefront/orders/${orderId}`,
    headers,
    variables: { orderId },
  }));
  const document = readDocument("orders/getStorefrontOrder");
  return {
    name: "order",
    document,
    envelope: [],
    requests: shuffleWithFixedSeed(requests),
    fault: () => undefined,
    effect: null,
  };
}
