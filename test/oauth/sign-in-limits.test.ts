/**
 * Limits of password guessing: per account and per network, for concurrent attempts from many addresses. The
 * number of concurrent hashes is limited too.
 */
import type * as Crypto from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashPassword } from "#access/people/passwords.ts";
import { manyConnections } from "#test/support/databases.ts";
import { holdArgon2 } from "#test/support/held-argon2.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { createBrowser, createClient, createPerson, password, type Shown } from "./people.ts";
import { askAuthorization } from "./token-requests.ts";

vi.mock("node:crypto", async (original) =>
  (await import("#test/support/held-argon2.ts")).withHeldArgon2(await original<typeof Crypto>()),
);

const world = useWorld("postgres", {
  poolSize: manyConnections,
  environment: { RATE_LIMIT_SCALE: "1", TRUST_PROXY: "1" },
});
const releases: (() => void)[] = [];
afterEach(() => releases.splice(0).forEach((release) => release()));

const hold = (): Promise<void> => {
  const { first, release } = holdArgon2();
  releases.push(release);
  return first;
};

const from = (address: string) => ({
  origin: publicUrl,
  "sec-fetch-site": "same-origin",
  "x-forwarded-for": address,
});

interface Attempt {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

let opened = 0;

/** Opens each page from another address, because pages are counted as well. */
async function openPage(): Promise<(attempt: Attempt) => Promise<Shown>> {
  opened += 1;
  const browser = createBrowser(world(), { "x-forwarded-for": `198.18.${opened >> 8}.${opened & 255}` });
  const page = await browser.open((await askAuthorization(await createClient(world()))).url);
  return ({ email, password: typed, address }) =>
    browser.submit(page, { email, password: typed, action: "sign-in" }, from(address));
}

/**
 * Sends all attempts at once, each from a separate page. The pages are opened one after the other: on a busy
 * machine, many at once would wait too long for one of the ten connections.
 */
async function tryAll(attempts: readonly Attempt[]): Promise<number[]> {
  const pages: { attempt: Attempt; signIn: (attempt: Attempt) => Promise<Shown> }[] = [];
  for (const attempt of attempts) pages.push({ attempt, signIn: await openPage() });
  const answers = await Promise.all(pages.map(({ attempt, signIn }) => signIn(attempt)));
  return answers.map(({ status }) => status);
}

const wrong = { password: "a wrong password" };
const countOf = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

describe("concurrent attempts", () => {
  it("on one account are limited to ten from one /64; then the right password must wait too", async () => {
    const { email } = await createPerson(world());
    const statuses = await tryAll(
      Array.from({ length: 20 }, (_, index) => ({ ...wrong, email, address: `2001:db8:1:1::${index + 1}` })),
    );
    expect([countOf(statuses, 400), countOf(statuses, 429)]).toEqual([10, 10]);
    const right = await (await openPage())({ email, password, address: "2001:db8:1:2::1" });
    expect([right.status, right.headers.get("retry-after")]).toEqual([429, "600"]);
    expect(right.text).toContain("There were too many failed attempts. Try again in 10 min.");
  });

  it("on forty accounts are limited to thirty from one /64, and do not limit the next /64", async () => {
    const { email } = await createPerson(world());
    const guesses = Array.from({ length: 40 }, (_, index) => ({
      ...wrong,
      email: `at.once.${index}@shop.example`,
      address: `2001:db8:2:1::${index}`,
    }));
    const statuses = await tryAll(guesses);
    expect([countOf(statuses, 400), countOf(statuses, 429)]).toEqual([30, 10]);
    const signIn = await openPage();
    expect((await signIn({ email, password, address: "2001:db8:2:1:ffff::1" })).status).toBe(429);
    expect((await signIn({ email, password, address: "2001:db8:2:2::1" })).status).toBe(200);
  });
});

it("from a blocked address block no one else", async () => {
  const { email } = await createPerson(world());
  const address = "192.0.2.3";
  const guesses = Array.from({ length: 30 }, (_, index) => ({
    ...wrong,
    email: `used.up.${index}@shop.example`,
    address,
  }));
  expect(countOf(await tryAll(guesses), 400)).toBe(30);
  expect(countOf(await tryAll(Array.from({ length: 12 }, () => ({ ...wrong, email, address }))), 429)).toBe(
    12,
  );
  expect((await (await openPage())({ email, password, address: "192.0.2.4" })).status).toBe(200);
});

it("the limit of sign-ins counts neither successful attempts nor attempts that were not made", async () => {
  const { email } = await createPerson(world());
  const address = "192.0.2.1";
  const wrongly = async (): Promise<number> =>
    (await (await openPage())({ ...wrong, email, address })).status;
  for (let time = 0; time < 9; time += 1) expect(await wrongly()).toBe(400);
  for (let time = 0; time < 3; time += 1)
    expect((await (await openPage())({ email, password, address })).status).toBe(200);
  expect(await wrongly()).toBe(400);
  for (let time = 0; time < 30; time += 1) expect(await wrongly()).toBe(429);
  const other = await createPerson(world());
  expect((await (await openPage())({ email: other.email, password, address })).status).toBe(200);
});

it("the limit of sign-ins answers with a busy page if too many wait, and does not count those", async () => {
  const { email } = await createPerson(world());
  const signIn = await openPage();
  void hold();
  const others = Array.from({ length: 34 }, () => hashPassword("a long enough password"));
  for (let time = 0; time < 11; time += 1) {
    const { status, headers, text } = await signIn({ email, password, address: "192.0.2.2" });
    expect([status, headers.get("retry-after")]).toEqual([503, "2"]);
    expect(text).toContain("<title>Error: Sign in</title>");
    expect(text).toContain("Too many people are signing in at the moment. Try again in a few seconds.");
  }
  releases.splice(0).forEach((release) => release());
  await Promise.all(others);
  expect((await signIn({ email, password, address: "192.0.2.2" })).status).toBe(200);
});
