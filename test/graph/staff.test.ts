/**
 * Staff accounts over GraphQL: creation, new passwords, disabling and enabling. The stored idempotency
 * records do not help to guess a password.
 */
import { createHash } from "node:crypto";
import type * as Crypto from "node:crypto";
import canonicalize from "canonicalize";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashPassword } from "#access/people/passwords.ts";
import { authenticateStaffByPassword, recordLastStaffSignInTime } from "#access/people/staff-sign-in.ts";
import { holdArgon2 } from "#test/support/held-argon2.ts";
import { useWorld } from "#test/support/use-world.ts";

vi.mock("node:crypto", async (original) =>
  (await import("#test/support/held-argon2.ts")).withHeldArgon2(await original<typeof Crypto>()),
);

const world = useWorld();
const releases: (() => void)[] = [];
const releaseAll = (): void => releases.splice(0).forEach((release) => release());
afterEach(releaseAll);

const hold = (): Promise<void> => {
  const { first, release } = holdArgon2();
  releases.push(release);
  return first;
};

const password = "a long enough password";
let count = 0;
const nextEmail = (): string => `graph.${(count += 1)}@shop.example`;

async function ask(mutation: string) {
  // Audit entries of the same millisecond have no order.
  world().clock.advance(1);
  const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "admin" });
  return { data: body.data?.[Object.keys(body.data)[0] ?? ""], error: body.errors?.[0]?.extensions };
}

const staffCreate = (input: string, key = ""): string =>
  `staffCreate(${key === "" ? "" : `idempotencyKey: "${key}", `}input: { name: "Ana", ${input} }) { password staff { id email role version } }`;
const create = async (email: string): Promise<string> =>
  (await ask(staffCreate(`email: "${email}", password: "${password}"`))).data.staff.id;
const signsIn = async (email: string, typed: string): Promise<boolean> =>
  (await authenticateStaffByPassword(world().database.db, email, typed)) !== undefined;
const accountsOf = (email: string) =>
  world().database.db.selectFrom("staffAccount").select("id").where("email", "=", email).execute();

it("a new password of a staff account is generated and shown once, or given", async () => {
  const email = nextEmail();
  const staffId = await create(email);
  const set = (input: string) =>
    ask(
      `staffPasswordSet(input: { staffId: "${staffId}" ${input} }) { password staff { id version ` +
        "disabledAt } }",
    );
  const made = await set("");
  expect(made.data).toEqual({
    password: expect.stringMatching(/^[\w-]{20}$/),
    staff: { id: staffId, version: 2, disabledAt: null },
  });
  expect([await signsIn(email, password), await signsIn(email, made.data.password)]).toEqual([false, true]);
  expect((await set('password: "another password"')).data).toEqual({
    password: null,
    staff: { id: staffId, version: 3, disabledAt: null },
  });
  expect(await signsIn(email, "another password")).toBe(true);
  expect((await set('password: "too short"')).error).toMatchObject({
    code: "invalid_field",
    details: [{ field: "/password", code: "length" }],
  });
  expect(await signsIn(email, "another password")).toBe(true);
});

it("a staff account has a role, which is changed later", async () => {
  const role = async (input: string) => {
    const { data, error } = await ask(
      staffCreate(`email: "${nextEmail()}", password: "${password}" ${input}`),
    );
    return { staffId: data?.staff.id, role: data?.staff.role, code: error?.code };
  };
  const admin = await role("");
  expect([admin.role, (await role("role: ANALYST")).role]).toEqual(["ADMIN", "ANALYST"]);
  const set = (name: string) =>
    ask(`staffRoleSet(input: { staffId: "${admin.staffId}", role: ${name} }) { role version }`);
  expect((await set("ANALYST")).data).toEqual({ role: "ANALYST", version: 2 });
  // The role that the account has already ends no session.
  expect((await set("ANALYST")).data).toEqual({ role: "ANALYST", version: 2 });
  expect((await set("ADMIN")).data).toEqual({ role: "ADMIN", version: 3 });
  expect((await ask('staffRoleSet(input: { staffId: "stf_none", role: ADMIN }) { role }')).error?.code).toBe(
    "resource_not_found",
  );
});

it("a disabled staff account is enabled, unless another account uses its e-mail by now", async () => {
  const email = nextEmail();
  const staffId = await create(email);
  const move = (name: string) => ask(`${name}(input: { staffId: "${staffId}" }) { id version disabledAt }`);
  expect((await move("staffDisable")).data).toEqual({
    id: staffId,
    version: 2,
    disabledAt: world().clock.now().toISOString(),
  });
  expect((await move("staffEnable")).data).toEqual({ id: staffId, version: 3, disabledAt: null });
  await move("staffDisable");
  await create(email);
  expect((await move("staffEnable")).error).toMatchObject({
    code: "already_exists",
    details: [{ field: "/staffId" }],
  });
});

it("a staff account is created in the same way whether or not another merchant knows the e-mail", async () => {
  const email = nextEmail();
  const { first, second } = world().demo.merchants;
  const createAt = async (merchantId: string, address: string, typed: string) => {
    const mutation = staffCreate(`merchantId: "${merchantId}", email: "${address}", password: "${typed}"`);
    const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "operator" });
    expect(body.data.staffCreate).toMatchObject({ staff: { email: address, version: 1 } });
    return body.data.staffCreate.staff.id as string;
  };
  const own = await createAt(first.id, email, password);
  const foreign = await createAt(second.id, email.toUpperCase(), "another password");
  const signInWith = async (typed: string) =>
    (await authenticateStaffByPassword(world().database.db, email, typed))?.staffId;
  expect(await signInWith(password)).toBe(own);
  expect(await signInWith("another password")).toBe(foreign);
  expect(await signInWith("a third password")).toBeUndefined();
  // With a common salt, a sign-in computes one hash: its time does not tell how many accounts there are.
  await ask(`staffPasswordSet(input: { staffId: "${own}", password: "a common password" }) { password }`);
  const rows = await world()
    .database.db.selectFrom("staffAccount")
    .select("passwordHash")
    .where("id", "in", [own, foreign])
    .execute();
  expect(new Set(rows.map(({ passwordHash }) => passwordHash.split("$")[4])).size).toBe(1);
});

it("a staff member with one password at several merchants gets the account that signed in last", async () => {
  const email = nextEmail();
  const { db } = world().database;
  const ids: string[] = [];
  for (const { id } of Object.values(world().demo.merchants)) {
    const mutation = staffCreate(`merchantId: "${id}", email: "${email}", password: "${password}"`);
    const { body } = await world().graphql(`mutation { ${mutation} }`, { token: "operator" });
    ids.push(body.data.staffCreate.staff.id);
  }
  for (const [minute, staffId] of [...ids, ...ids].entries()) {
    await recordLastStaffSignInTime(db, staffId, new Date(world().clock.now().getTime() + minute * 60_000));
    expect((await authenticateStaffByPassword(db, email, password))?.staffId).toBe(staffId);
  }
});

it("a change of a staff account is recorded in the audit trail, without the password", async () => {
  const staffId = await create(nextEmail());
  await ask(
    `staffPasswordSet(input: { staffId: "${staffId}", password: "another password", ` +
      "revokeGrants: true }) { password }",
  );
  await ask(`staffDisable(input: { staffId: "${staffId}" }) { id }`);
  await ask(`staffEnable(input: { staffId: "${staffId}" }) { id }`);
  const entries = await world()
    .database.db.selectFrom("auditEntry")
    .selectAll()
    .where("targetId", "=", staffId)
    .orderBy("id")
    .execute();
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ["staffCreate", { fields: ["email", "name", "password", "role"] }],
    ["staffPasswordSet", { fields: ["password", "revokeGrants"] }],
    ["staffDisable", {}],
    ["staffEnable", {}],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/long enough|another password/);
});

describe("hashing a password", () => {
  // PGlite has one connection: hashing inside a transaction would block all other requests.
  it.each([
    ["without a key", ""],
    ["with a key", "hashing-1"],
  ])("runs outside of any transaction, %s", async (_how, key) => {
    const email = nextEmail();
    const first = hold();
    const created = ask(staffCreate(`email: "${email}"`, key));
    await first;
    expect(await accountsOf(email)).toEqual([]);
    releaseAll();
    const { data } = await created;
    expect([data.staff.email, await signsIn(email, data.password)]).toEqual([email, true]);
  });

  it.each([
    ["/email", 'email: "nobody"', ""],
    ["/email", 'email: "nobody"', "hashing-2"],
    ["/password", 'email: "short@shop.example", password: "short"', ""],
    ["/password", 'email: "short@shop.example", password: "short"', "hashing-3"],
  ])("does not begin for an input with a fault at %s: %s %s", async (field, input, key) => {
    void hold();
    expect((await ask(staffCreate(input, key))).error).toMatchObject({
      code: "invalid_field",
      details: [{ field }],
    });
  });

  it("is limited: beyond the waiting limit, callers get a retry time and nothing is created", async () => {
    const email = nextEmail();
    void hold();
    const others = Array.from({ length: 34 }, () => hashPassword(password));
    for (const key of ["", "hashing-4"])
      expect((await ask(staffCreate(`email: "${email}"`, key))).error).toMatchObject({
        code: "service_unavailable",
        retryAfterSeconds: 2,
      });
    releaseAll();
    await Promise.all(others);
    expect(await accountsOf(email)).toEqual([]);
    expect((await ask(staffCreate(`email: "${email}"`, "hashing-4"))).data.staff.email).toBe(email);
  });
});

it("a staff account is created once for a key, whose record does not help to guess a password", async () => {
  const email = nextEmail();
  const document = `mutation ($password: String!) {
    ${staffCreate(`email: "${email}", password: $password`, "kept-1")} }`;
  const send = async (typed: string) =>
    (await world().graphql(document, { token: "admin", variables: { password: typed } })).body;
  const before = await world().database.db.selectFrom("idempotencyRecord").select("idempotencyKey").execute();
  const first = await send(password);
  expect(await send(password)).toEqual(first);
  expect((await send("another password")).errors?.[0]?.extensions.code).toBe("idempotency_key_reused");
  expect(await accountsOf(email)).toHaveLength(1);
  const rows = await world().database.db.selectFrom("idempotencyRecord").selectAll().execute();
  expect(rows).toHaveLength(before.length + 1);
  const { print, parse } = await import("graphql");
  const request = {
    document: print(parse(document)),
    operationName: null,
    variables: { password },
    buyerReference: null,
  };
  const plain = createHash("sha256")
    .update(canonicalize(request) ?? "")
    .digest("hex");
  expect(rows.map(({ fingerprint }) => Buffer.from(fingerprint).toString("hex"))).not.toContain(plain);
});
