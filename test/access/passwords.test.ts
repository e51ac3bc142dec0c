/** Stored passwords: Argon2id in a PHC string with its parameters. */
import { expect, it } from "vitest";
import { findMatchingPasswordHashes, hashPassword, getSaltOfPasswordHash } from "#access/people/passwords.ts";

const matchesPassword = async (password: string, stored: string): Promise<boolean> =>
  (await findMatchingPasswordHashes(password, [stored])).includes(stored);

it("hashing a password writes its parameters into the hash, with a new salt each time", async () => {
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

it("checking a password reads the hash's parameters: a reference implementation's test vector", async () => {
  const theirs = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
  expect(await matchesPassword("password", theirs)).toBe(true);
  expect(await matchesPassword("Password", theirs)).toBe(false);
});

it("the check of passwords accepts a password in any Unicode normalization form", async () => {
  expect(await matchesPassword("cafe\u0301 au lait", await hashPassword("caf\u00e9 au lait"))).toBe(true);
});

it("the check of passwords fails without a stored hash, and throws on a malformed hash", async () => {
  expect(await findMatchingPasswordHashes("a long enough password", [])).toEqual([]);
  await expect(matchesPassword("password", "plain text")).rejects.toThrow("PHC");
});

it("the check of passwords finds the matching hashes of several, with the same salt or another one", async () => {
  const first = await hashPassword("the first password");
  const salt = getSaltOfPasswordHash(first);
  const second = await hashPassword("the second password", salt);
  const third = await hashPassword("the second password");
  expect(getSaltOfPasswordHash(second)).toEqual(salt);
  const all = [first, second, third];
  expect(await findMatchingPasswordHashes("the first password", all)).toEqual([first]);
  expect(await findMatchingPasswordHashes("the second password", all)).toEqual([second, third]);
  expect(await findMatchingPasswordHashes("the third password", all)).toEqual([]);
});

it("the check of passwords queues a limited number of checks and refuses others at once", async () => {
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
