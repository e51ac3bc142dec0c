/** Passwords at rest: Argon2id in a PHC string, with the parameters it was made with. */
import { expect, it } from "vitest";
import { hashPassword, matchesPassword } from "#access/people/passwords.ts";

it("writes what it did into the hash, with a salt of its own each time", async () => {
  const [one, other] = await Promise.all([
    hashPassword("a long enough password"),
    hashPassword("a long enough password"),
  ]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[0-9A-Za-z+/]{22}\$[0-9A-Za-z+/]{43}$/);
  expect(one).not.toBe(other);
  expect(await matchesPassword("a long enough password", one)).toBe(true);
  expect(await matchesPassword("a long enough passwore", one)).toBe(false);
  expect(await matchesPassword("", one)).toBe(false);
});

it("reads the parameters that a hash was made with: one of the reference implementation's own tests", async () => {
  const theirs = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  expect(await matchesPassword("password", theirs)).toBe(true);
  expect(await matchesPassword("Password", theirs)).toBe(false);
});

it("the check of passwords takes a password for the same however its letters are composed", async () => {
  expect(await matchesPassword("cafe\u0301 au lait", await hashPassword("caf\u00e9 au lait"))).toBe(true);
});

it("matches nothing where nothing is stored, and throws on what is no hash", async () => {
  expect(await matchesPassword("a long enough password", undefined)).toBe(false);
  await expect(matchesPassword("password", "plain text")).rejects.toThrow("PHC");
});

it("the check of passwords lets so many wait and sends the others away at once, with nothing done", async () => {
  const asked = await Promise.allSettled(
    Array.from({ length: 40 }, () => hashPassword("a long enough password")),
  );
  const refused = asked.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  expect(refused).toHaveLength(6);
  for (const reason of refused)
    expect(reason).toMatchObject({
      code: "service_unavailable",
      status: 503,
      parts: { retryAfterSeconds: 2 },
    });
  expect(asked.slice(0, 34).every(({ status }) => status === "fulfilled")).toBe(true);
  expect(await matchesPassword("a long enough password", await hashPassword("a long enough password"))).toBe(
    true,
  );
});
