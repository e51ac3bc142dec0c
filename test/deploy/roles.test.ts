/**
 * `deploy/postgres/roles.sql`: the service runs with a role that owns nothing, migrations run with the role
 * of the owner, and the other two roles cannot write.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import { createServiceApp, type ServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { openDatabase } from "#database/connect.ts";
import { createDayPartitions, dropDayPartitions } from "#database/day-partitions.ts";
import { migrate, readMigrationFiles } from "#database/migrate.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { createDatabase, query } from "#test/support/create-database.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { temporaryFolder } from "#test/support/process.ts";

const roles = readFileSync(new URL("../../deploy/postgres/roles.sql", import.meta.url), "utf8");

function urlOf(url: string, role: string): string {
  const changed = new URL(url);
  changed.username = role;
  return String(changed);
}

async function createEmptyDatabase(): Promise<string> {
  const name = `roles_${randomBytes(8).toString("hex")}`;
  await query(inject("postgresUrl"), `create database ${name}`);
  return databaseUrl(inject("postgresUrl"), name);
}

const start = (url: string, environment: Readonly<Record<string, string>> = {}): Promise<ServiceApp> =>
  createServiceApp({
    settings: parseServiceSettings({
      DATABASE_URL: urlOf(url, "commerce_app"),
      ENCRYPTION_KEYS: encryptionKeys,
      RATE_LIMIT_SCALE: "0",
      ...environment,
    }),
    log: createLog("silent"),
  });

const ownersOf = (url: string): Promise<unknown> =>
  query(
    url,
    `select distinct pg_get_userbyid(relowner) as owner from pg_class where relnamespace = 'public'::regnamespace
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')`,
  );

describe("the roles of deploy/postgres/roles.sql", () => {
  it("let the service migrate, seed, serve and change data as a role that owns nothing", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await createEmptyDatabase();
    await query(url, roles);
    await expect(start(url)).rejects.toThrow(
      /^Migration 0001-\S+ failed and changed nothing: permission denied .* Set DATABASE_OWNER_URL/,
    );
    const app = await start(url, { DATABASE_OWNER_URL: urlOf(url, "commerce_owner") });
    stack.defer(() => app.close());
    expect(await ownersOf(url)).toEqual([{ owner: "commerce_owner" }]);
    const demo = await prepareDemoDataAndFile(app.database, {
      ...app.services,
      dataDir: temporaryFolder(),
      now: new Date(),
    });
    const headers = { authorization: `Bearer ${demo?.keys.full}`, "idempotency-key": "roles" };
    const cart = `/api/v1/open/storefront/carts/${demo?.carts.active}`;
    const payload = { code: demo?.promotionCodes.percentage };
    const applied = await app.server.inject({ method: "PUT", url: `${cart}/promotion`, headers, payload });
    expect(applied.statusCode, applied.body).toBe(200);
    expect((await app.server.inject({ url: cart, headers })).statusCode).toBe(200);
    // The service creates and drops partitions although it does not own the tables.
    const later = new Date(Date.now() + 40 * 86_400_000);
    expect(await createDayPartitions(app.database.db, later)).toBe(4);
    expect(await dropDayPartitions(app.database.db, later)).not.toEqual([]);
    expect(await ownersOf(url)).toEqual([{ owner: "commerce_owner" }]);
    await app.exports.drain();
    await app.payments.drive();
  });

  it("take over a database that was used with one role, and may be run again", async () => {
    const url = await createEmptyDatabase();
    const before = await openDatabase({ url });
    await migrate(before).finally(() => before.close());
    await query(url, roles);
    await query(url, roles);
    expect(await ownersOf(url)).toEqual([{ owner: "commerce_owner" }]);
    const app = await start(url, { MIGRATE: "0" });
    await app.close();
    // Later migrations give the same rights.
    const owner = await openDatabase({ url, ownerUrl: urlOf(url, "commerce_owner") });
    const later = {
      name: "9999-later",
      sql: "create table later (id bigint generated always as identity, note text);",
    };
    await migrate(owner, [...readMigrationFiles(), later]).finally(() => owner.close());
    await query(urlOf(url, "commerce_app"), "insert into later (note) values ('a')");
    expect(await query(urlOf(url, "commerce_read"), "select note from later")).toEqual([{ note: "a" }]);
  });

  it.each([
    ["commerce_app", "alter table merchant add column note text", "must be owner"],
    ["commerce_app", "create table other (id int)", "permission denied"],
    ["commerce_app", "truncate audit_entry", "permission denied"],
    ["commerce_read", "delete from merchant", "read-only transaction"],
    ["commerce_read", "begin read write; delete from merchant", "permission denied"],
    [
      "commerce_read",
      "begin read write; select drop_day_partition('api_request', now())",
      "permission denied",
    ],
    ["commerce_metrics", "select * from merchant", "permission denied"],
  ])("do not let %s run: %s", async (role, sql, message) => {
    const url = await createDatabase();
    await expect(query(urlOf(url, role), sql)).rejects.toThrow(message);
  });
});
