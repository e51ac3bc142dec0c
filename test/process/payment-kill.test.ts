/**
 * The process is killed between the payment provider's answer and its commit. The next process looks the
 * payment up, and the buyer pays once.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it, vi } from "vitest";
import { openDatabase, type OpenedDatabase } from "#database/connect.ts";
import { type Service, startService } from "#soak/service.ts";
import { type DemoPlace, demoPlace } from "#test/support/copies.ts";

/** Two cold starts on a busy machine. */
const startsMsMax = 180_000;
/** tok_slow answers after three seconds. The embedded database is not readable meanwhile. */
const beforeAnswerMs = 1_500;
/** On a busy machine, the embedded database may be killed before the provider's entry or after its answer. */
const attemptsMax = 3;
const waiting = { timeout: 45_000 };

it.concurrent.each(["pglite", "postgres"] as const)(
  "on %s finds the authorized payment again, and places one order",
  async (engine) => {
    const place = await demoPlace(engine);
    const variantId = await findGiftCard(place);
    await using service = await startService(place);
    let sessionId = "";
    for (let attempts = attemptsMax; attempts > 0; attempts -= 1) {
      sessionId = await submitSlowly(service, variantId);
      if (place.databaseUrl === undefined) await sleep(beforeAnswerMs);
      else await awaitAuthorization(place.databaseUrl, sessionId);
      await service.kill();
      const present = await service.inspect((database) => seen(database, sessionId));
      const isKilledInTime = present.status === "processing" && present.authorized === 1;
      if (isKilledInTime || attempts === 1) {
        expect(present).toEqual({
          status: "processing",
          authorized: 1,
          operations: ["authorize pending"],
          orders: 0,
        });
        break;
      }
      await service.start();
    }
    // Ends the killed process's lease.
    await service.inspect((database) =>
      sql`update payment_operation set leased_until = due_at`.execute(database.db),
    );
    await service.start();
    const query = "query ($id: ID!) { hostedCheckoutSession(id: $id) { status } }";
    await vi.waitUntil(
      async () => (await ask(service, query, { id: sessionId })).status === "COMPLETED",
      waiting,
    );
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

/** Waits until the provider has recorded its result, some seconds before it answers. */
async function awaitAuthorization(url: string, sessionId: string): Promise<void> {
  const database = await openDatabase({ url });
  await vi
    .waitUntil(async () => (await seen(database, sessionId)).authorized === 1, waiting)
    .finally(() => database.close());
}

/** Returns the id of the variant without shipping. */
async function findGiftCard({ folder, databaseUrl }: DemoPlace): Promise<string> {
  const database = await openDatabase(databaseUrl === undefined ? { folder } : { url: databaseUrl });
  const found = database.db.selectFrom("variant").select("id").where("sku", "=", "GFT-KART");
  const { id } = await found.executeTakeFirstOrThrow().finally(() => database.close());
  return id;
}

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

/** Submits a payment with tok_slow for goods without shipping. */
async function submitSlowly(service: Service, variantId: string): Promise<string> {
  const cart = await ask(
    service,
    "mutation ($input: CartCreateInput!) { cartCreate(input: $input) { id } }",
    {
      input: { market: "DE", lines: [{ variantId, quantity: 1 }] },
    },
  );
  const open =
    "mutation ($input: HostedCheckoutSessionCreateInput!) { hostedCheckoutSessionCreate(input: $input) { " +
    "id amountTotal { amountMinor currency } } }";
  const urls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };
  const session = await ask(service, open, { input: { cartId: cart.id, ...urls } });
  const submit = `mutation ($id: ID!, $input: HostedCheckoutSessionSubmitInput!) {
    hostedCheckoutSessionSubmit(sessionId: $id, idempotencyKey: "${randomUUID()}", input: $input) { status } }`;
  const { status } = await ask(service, submit, {
    id: session.id,
    input: { expectedAmount: session.amountTotal, paymentToken: "tok_slow" },
  });
  expect(status).toBe("PROCESSING");
  return session.id;
}

interface SeenPayment {
  readonly status: string;
  readonly authorized: number;
  readonly operations: readonly string[] | null;
  readonly orders: number;
}

async function seen({ db }: OpenedDatabase, sessionId: string): Promise<SeenPayment> {
  const {
    rows: [row],
  } = await sql<SeenPayment>`
    select s.status, (select count(*) from test_provider_entry e join payment p on p.id = e.reference
    where p.session_id = s.id and e.kind = 'authorize')::int as authorized,
      (select array_agg(o.kind || ' ' || o.status) from payment_operation o join payment p
      on p.id = o.payment_id where p.session_id = s.id) as operations,
      (select count(*) from sales_order o where o.session_id = s.id)::int as orders
    from hosted_checkout_session s where s.id = ${sessionId}`.execute(db);
  if (row === undefined) throw new Error("There is no such session.");
  return row;
}
