/** The test card form and the bank's confirmation page (3-D Secure) of the checkout page, without a script. */
import { expect, it } from "vitest";
import { drive, ordersOf, paymentsOf, sessionOf } from "#test/commerce/payments/checkouts.ts";
import { challengeMs } from "#commerce/payments/test/test-challenge.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer, World } from "#test/support/world.ts";
import { type Buyer, buyerOf, cardOf, faultsOf, headingOf, makePayableSession, ownHeaders } from "./buyer.ts";

const useIt = useWorld();
const notConfirmed = [
  "Ihre Bank hat die Zahlung nicht bestätigt. Es wurde nichts abgebucht; versuchen Sie es noch einmal oder " +
    "bezahlen Sie mit einer anderen Karte.",
];

/** Pays with a card that needs a confirmation, up to the bank's page. */
async function challenged(world: World, token: "tok_challenge" | "tok_challenge_decline" = "tok_challenge") {
  const session = await makePayableSession(world);
  const buyer = buyerOf(world, session.url);
  await buyer.open();
  await buyer.press("pay", cardOf(token));
  await drive(world);
  const page = await buyer.open("/challenge");
  return { session, buyer, page };
}

const answer = (world: World, buyer: Buyer, given: string, headers = {}): Promise<Answer> =>
  world.send({
    method: "POST",
    url: `${buyer.path}/challenge`,
    headers: { ...ownHeaders, cookie: buyer.cookie() ?? "", ...headers },
    body: `answer=${given}`,
  });

const statusOf = (world: World, buyer: Buyer) =>
  world.get(`${buyer.path}/status`, { cookie: buyer.cookie() ?? "" });

it("a confirmed payment places one order, however often the answer is sent", async () => {
  const world = useIt();
  const { session, buyer, page } = await challenged(world);
  expect([page.status, headingOf(page.text)]).toEqual([200, "Ihre Bank bittet um Bestätigung"]);
  expect((await statusOf(world, buyer)).body).toMatchObject({ status: "processing", challenge: true });
  expect((await buyer.open()).headers["location"]).toBe(`${buyer.path}/challenge`);

  const answers = await Promise.all(
    ["complete", "complete", "complete"].map((given) => answer(world, buyer, given)),
  );
  expect(answers.map(({ status, headers }) => [status, headers["location"]])).toEqual(
    answers.map(() => [303, buyer.path]),
  );
  expect((await answer(world, buyer, "fail")).status).toBe(303);
  await drive(world);
  expect(await sessionOf(world, session)).toMatchObject({ status: "completed" });
  expect(await paymentsOf(world, session)).toHaveLength(1);
  expect(await ordersOf(world, session)).toHaveLength(1);
  expect((await buyer.open("/challenge")).headers["location"]).toBe(buyer.path);
});

it("of two different answers at the same time, one decides", async () => {
  const world = useIt();
  const { session, buyer } = await challenged(world);
  const answers = await Promise.all(["complete", "fail"].map((given) => answer(world, buyer, given)));
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  await drive(world);
  const { status } = (await sessionOf(world, session)) as { readonly status: string };
  expect(["completed", "open"]).toContain(status);
  expect(await ordersOf(world, session)).toHaveLength(status === "completed" ? 1 : 0);
});

it.each([
  ["fail", "tok_challenge", notConfirmed],
  ["cancel", "tok_challenge", notConfirmed],
  [
    "complete",
    "tok_challenge_decline",
    [
      "Die Karte wurde abgelehnt. Es wurde nichts abgebucht; versuchen Sie es noch einmal oder bezahlen " +
        "Sie anders.",
    ],
  ],
] as const)("after %s with %s the checkout is open again", async (given, token, faults) => {
  const world = useIt();
  const { session, buyer } = await challenged(world, token);
  await answer(world, buyer, given);
  await drive(world);
  expect(faultsOf((await buyer.open()).text)).toEqual(faults);
  await buyer.press("pay");
  await drive(world);
  expect(await sessionOf(world, session)).toMatchObject({ status: "completed" });
  expect(await ordersOf(world, session)).toHaveLength(1);
});

it("a challenge without an answer fails the payment and opens the checkout again", async () => {
  const world = useIt();
  const { session, buyer } = await challenged(world);
  world.clock.advance(challengeMs + 60_000);
  expect((await buyer.open("/challenge")).headers["location"]).toBe(buyer.path);
  await answer(world, buyer, "complete");
  await drive(world);
  expect(await sessionOf(world, session)).toMatchObject({ status: "open" });
  expect(faultsOf((await buyer.open()).text)).toEqual(notConfirmed);
});

it("only the browser that pays sees and answers the challenge", async () => {
  const world = useIt();
  const { session, buyer } = await challenged(world);
  const other = buyerOf(world, session.url);
  expect(headingOf((await other.open()).text)).toBe("Ihre Zahlung wird bearbeitet");
  expect((await other.open("/challenge")).headers["location"]).toBe(other.path);
  expect((await statusOf(world, other)).body).toMatchObject({ challenge: false });
  await answer(world, other, "fail");
  expect((await answer(world, buyer, "complete", { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await statusOf(world, buyer)).body).toMatchObject({ challenge: true });
});
