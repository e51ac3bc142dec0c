/** Secrets of clients are stored nowhere in the service. Their format: secret-form.test.ts. */
import { describe, expect, it } from "vitest";
import { sql } from "kysely";
import { withOtherSecret } from "#test/support/keys.ts";
import { changeEndpoint, createWebhook, makeEndpoint } from "#test/operations/webhook-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

describe("the database", () => {
  const world = useWorld();

  it("contains no secret in any column, and neither does the log", async () => {
    const { database, demo, logged, get, getWithKey, graphql } = world();
    const secrets = [...Object.values(demo.keys), ...Object.values(demo.tokens)];
    const forged = withOtherSecret(demo.keys.full);
    await getWithKey("/api/v1/open/identity");
    await getWithKey("/api/v1/open/catalog/products", "revoked");
    await get("/api/v1/open/identity", { authorization: `Bearer ${forged}` });
    await get(`/api/v1/open/identity?key=${demo.keys.full}`);
    await get(`/${demo.keys.full}`, { authorization: `Basic ${demo.keys.full}`, cookie: demo.keys.full });
    await graphql(`{ viewer { secret_${demo.tokens.admin}: credential } }`, { token: "admin" });
    await expect.poll(() => logged.length).toBe(6);
    const secretPart = (secret: string): string => secret.slice(secret.lastIndexOf("_") + 1);
    const log = JSON.stringify(logged);
    for (const secret of [...secrets, forged]) expect(log).not.toContain(secretPart(secret));

    const { rows: columns } = await sql<{ tableName: string; columnName: string }>`
      select table_name, column_name from information_schema.columns where table_schema = 'public'`.execute(
      database.db,
    );
    expect(columns.length).toBeGreaterThan(100);
    const pattern = secrets.map(secretPart).join("|");
    for (const { tableName, columnName } of columns) {
      const { rows } = await sql`
        select 1 from ${sql.table(tableName)} where ${sql.ref(columnName)}::text ~ ${pattern}
        limit 1`.execute(database.db);
      expect({ tableName, columnName, found: rows.length }).toEqual({ tableName, columnName, found: 0 });
    }
  });

  it("contains no webhook secret in any column, as text, base64 or bytes, nor does the log", async () => {
    const { database, logged } = world();
    const { id, secret } = await makeEndpoint(world());
    const headers = { "idempotency-key": "kept" };
    const { body } = await createWebhook(world(), { headers });
    await createWebhook(world(), { headers });
    const rotated = await changeEndpoint(world(), "webhookSecretRotate", { endpointId: id });
    await changeEndpoint(world(), "webhookEndpointTest", { endpointId: id });
    const secrets: string[] = [secret, body.data.secret.value, rotated.data.secret.value];
    expect(new Set(secrets).size).toBe(3);
    const base64 = secrets.map((value) => value.slice("whsec_".length));
    const bytes = base64
      .flatMap((text) => [Buffer.from(text, "base64"), Buffer.from(text)])
      .map((buffer) => buffer.toString("hex"));
    const forms = [...base64, ...bytes];
    expect(forms.filter((form) => JSON.stringify(logged).includes(form))).toEqual([]);
    const { rows: tables } = await sql<{ name: string }>`
      select table_name as name from information_schema.tables where table_schema = 'public'`.execute(
      database.db,
    );
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["webhook_secret", "event", "idempotency_record"]),
    );
    for (const { name } of tables) {
      // PostgreSQL shows bytes in a row's text in hexadecimal.
      const { rows } = await sql`
        select 1 from ${sql.table(name)} t, unnest(${forms}::text[]) form where position(form in t::text) > 0
        limit 1`.execute(database.db);
      expect({ name, found: rows.length }).toEqual({ name, found: 0 });
    }
  });
});
