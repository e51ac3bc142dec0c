/**
 * Two tabs of one browser and two people: the person who signed in last consents, and no foreign page is
 * shown the other person.
 */
import { expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import {
  type ClientMade,
  createBrowser,
  createClient,
  createPerson,
  password,
  type Shown,
} from "./people.ts";
import { askAuthorization } from "./token-requests.ts";

const world = useWorld();

const staffOf = async (client: ClientMade): Promise<(string | null)[]> => {
  const rows = await world()
    .database.db.selectFrom("oauthGrant")
    .select("staffId")
    .where("clientId", "=", client.clientId)
    .orderBy("id")
    .execute();
  return rows.map(({ staffId }) => staffId);
};

/** Opens two sign-in pages of one browser, each for another app. */
async function openTwo() {
  const browser = createBrowser(world());
  const clients = [await createClient(world()), await createClient(world())] as const;
  const pages: Shown[] = [];
  for (const client of clients) pages.push(await browser.open((await askAuthorization(client)).url));
  const [first, second] = pages;
  if (first === undefined || second === undefined) throw new Error("There are two.");
  return { browser, clients, first, second };
}

it("the sign-in asks the last person who signed in for consent, and ends the other tab", async () => {
  const { browser, clients, first, second } = await openTwo();
  const [ada, ben] = [await createPerson(world()), await createPerson(world())];
  const consentOfAda = await browser.submit(second, { email: ada.email, password, action: "sign-in" });
  expect(consentOfAda.text).toContain(ada.email);
  const consentOfBen = await browser.submit(first, { email: ben.email, password, action: "sign-in" });
  expect([consentOfBen.status, consentOfBen.text.includes(ben.email)]).toEqual([200, true]);
  expect(consentOfBen.headers.get("content-security-policy")).toContain("default-src 'none'");
  const late = await browser.submit(consentOfAda, { action: "allow", scope: "catalog:read" });
  expect([late.status, late.text.includes("This sign-in has ended")]).toEqual([400, true]);
  const { url } = await browser.submit(consentOfBen, { action: "allow", scope: "catalog:read" });
  expect(url).toContain("code=");
  expect([await staffOf(clients[0]), await staffOf(clients[1])]).toEqual([[ben.staffId], []]);
});

it("the sign-in keeps a person signed in who signs in twice in two tabs", async () => {
  const { browser, clients, first, second } = await openTwo();
  const { email, staffId } = await createPerson(world());
  for (const page of [second, first]) {
    const consent = await browser.submit(page, { email, password, action: "sign-in" });
    expect((await browser.submit(consent, { action: "allow", scope: "catalog:read" })).url).toContain(
      "code=",
    );
  }
  expect([await staffOf(clients[0]), await staffOf(clients[1])]).toEqual([[staffId], [staffId]]);
});
