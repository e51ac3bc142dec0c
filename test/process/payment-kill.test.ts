/**
 * The process is killed between the payment provider's answer and what would have been written of it: the
 * next one finds out, and nobody pays twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { OpenDatabase } from "#database/connect.ts";
import { type Service, startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Three cold starts on a machine that has other things to do. */
const startsMsMax = 180_000;
/** Of the three seconds that tok_slow takes to answer: by then its books are long written. */
const beforeAnswerMs = 1_500;

it.each(["pglite", "postgres"] as const)(
  "on %s the payment that was authorised is found again, and makes one order",
  async (engine) => {
    await using service = await startService(await demoPlace(engine));
    const variantId = await service.inspect(async ({ db }) => {
      const { id } = await db
        .selectFrom("variant")
        .select("id")
        .where("sku", "=", "GFT-KART")
        .executeTakeFirstOrThrow();
      return id;
    });
    await service.start();
    const sessionId = await submitSlowly(service, variantId);
    await sleep(beforeAnswerMs);
    await service.kill();
    await service.inspect(async (database) => {
      expect(await seen(database, sessionId)).toEqual({
        status: "processing",
        authorized: 1,
        operations: ["authorize pending"],
        orders: 0,
      });
      // The lease of who was killed is over.
      await sql`update payment_operation set leased_until = due_at`.execute(database.db);
    });
    await service.start();
    const query = "query ($id: ID!) { hostedCheckoutSession(id: $id) { status } }";
    await expect
      .poll(async () => (await ask(service, query, { id: sessionId })).status, { timeout: 30_000 })
      .toBe("COMPLETED");
    await service.inspect(async (database) => {
      expect(await seen(database, sessionId)).toEqual({
        status: "completed",
        authorized: 1,
        operations: ["authorize succeeded"],
        orders: 1,
      });
    });
    expect(service.faults).toEqual([]);
  },
  startsMsMax,
);

async function ask(
  { ask: send, access }: Service,
  query: string,
  variables: Readonly<Record<string, unknown>>,
  // eslint-disable-next-line typescript/no-explicit-any -- The test reads answers of any shape.
): Promise<any> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${access.tokens.storefront}` };
  const { text } = await send({
    method: "POST",
    url: "/graphql",
    headers,
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = JSON.parse(text) as { data?: Readonly<Record<string, unknown>>; errors?: unknown };
  expect(errors).toBeUndefined();
  return Object.values(data ?? {})[0];
}

/** Something that needs no delivery. */
async function submitSlowly(service: Service, variantId: string): Promise<string> {
  const cart = await ask(
    service,
    "mutation ($input: CartCreateInput!) { cartCreate(input: $input) { id } }",
    {
      input: { market: "DE", lines: [{ variantId, quantity: 1 }] },
    },
  );
  const open =
    "mutation ($input: HostedCheckoutSessionCreateInput!) { hostedCheckoutSessionCreate(input: $input) { id amountTotal { amountMinor currency } } }";
  const urls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };
  const session = await ask(service, open, { input: { cartId: cart.id, ...urls } });
  const submit = `mutation ($id: ID!, $input: HostedCheckoutSessionSubmitInput!) {
    hostedCheckoutSessionSubmit(sessionId: $id, idempotencyKey: "once", input: $input) { status } }`;
  const { status } = await ask(service, submit, {
    id: session.id,
    input: { expectedAmount: session.amountTotal, paymentToken: "tok_slow" },
  });
  expect(status).toBe("PROCESSING");
  return session.id;
}

async function seen({ db }: OpenDatabase, sessionId: string): Promise<unknown> {
  const { rows } = await sql`
    select s.status, (select count(*) from test_provider_entry e join payment p on p.id = e.reference where p.session_id = s.id and e.kind = 'authorize')::int as authorized,
      (select array_agg(o.kind || ' ' || o.status) from payment_operation o join payment p on p.id = o.payment_id where p.session_id = s.id) as operations,
      (select count(*) from sales_order o where o.session_id = s.id)::int as orders
    from hosted_checkout_session s where s.id = ${sessionId}`.execute(db);
  return rows[0];
}
