/**
 * Events about an installation and its keys: each installation receives only its own events, by any author of
 * the change, and never a secret.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweeps } from "#app/sweeps.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { brief, createEventReader, type PublishedEvent } from "./event-calls.ts";

const hourMs = 3_600_000;

describe("events of access", () => {
  let world: World;
  let listen: () => Promise<PublishedEvent[]>;
  let merchantId: string;
  let installationId: string;
  const secrets: string[] = [];
  const bodies: string[] = [];
  beforeAll(async () => {
    world = await createWorld();
    const readEvents = createEventReader(world);
    listen = async () => {
      const events = await readEvents();
      bodies.push(...events.map((event) => event.bodies));
      return events;
    };
    merchantId = (
      await operate(
        'merchantCreate(input: { slug: "told", name: "Told", mode: LIVE, defaultLocale: "fr", ' +
          'defaultMarket: "FR" }) { id }',
      )
    ).data.id;
    const app = await operate('appCreate(input: { name: "Connector", publisher: "Acme" }) { id }');
    const made = await operate(
      `installationCreate(input: { merchantId: "${merchantId}", appId: "${app.data.id}", scopes: ` +
        "[CATALOG_READ, WEBHOOKS_READ] }) { id }",
    );
    installationId = made.data.id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const operate = async (mutation: string, token = "operator") => {
    world.clock.advance(1);
    const { body } = await world.graphql(`mutation { ${mutation} }`, { token });
    return { data: body.data?.[Object.keys(body.data)[0] ?? ""], error: body.errors?.[0]?.extensions };
  };
  const makeKey = async (expiresInMs: number | null = null): Promise<string> => {
    const expiresAt =
      expiresInMs === null
        ? "null"
        : `"${new Date(world.clock.now().getTime() + expiresInMs).toISOString()}"`;
    const input = `{ installationId: "${installationId}", name: "Server", scopes: [CATALOG_READ], expiresAt:
      ${expiresAt} }`;
    const { data } = await operate(`apiKeyCreate(input: ${input}) { value apiKey { id } }`);
    secrets.push(data.value.split("_")[3] ?? "");
    return data.apiKey.id;
  };
  const revoke = (apiKeyId: string) => operate(`apiKeyRevoke(input: { apiKeyId: "${apiKeyId}" }) { id }`);
  const move = (field: string) =>
    operate(`${field}(input: { installationId: "${installationId}" }) { id version }`);
  const setScopes = (scopes: string) =>
    operate(
      `installationScopesSet(input: { installationId: "${installationId}", scopes: [${scopes}] }) { id }`,
    );
  const sweep = () =>
    sweeps
      .find(({ name }) => name === "announce expiring API keys")
      ?.run(world.app.services, { now: world.clock.now(), signal: new AbortController().signal });

  it("are published once when a key is created and revoked", async () => {
    const id = await makeKey();
    await revoke(id);
    await revoke(id);
    const events = await listen();
    expect(events.map(({ type, subject, installationId: only }) => [type, subject, only])).toEqual([
      ["api_key.created", { type: "api_key", id, version: 1 }, installationId],
      ["api_key.revoked", { type: "api_key", id, version: 2 }, installationId],
    ]);
    expect(events[0]?.data).toMatchObject({
      object: { id, installationId, name: "Server", scopes: ["catalog:read"], revokedAt: null },
      previous: null,
    });
    expect(events[1]?.data).toMatchObject({
      object: { revokedAt: expect.any(String) },
      previous: { version: 1, revokedAt: null },
    });
    expect(events[1]?.cause).toMatchObject({ actor: "staff", operationId: null });
  });

  it("are published for a rotated key and its successor", async () => {
    const id = await makeKey();
    const { data } = await operate(
      `apiKeyRotate(input: { apiKeyId: "${id}" }) { value apiKey { id name scopes } rotated { id ` +
        "rotatesTo version expiresAt } }",
    );
    secrets.push(data.value.split("_")[3] ?? "");
    const endsAt = new Date(world.clock.now().getTime() + 24 * hourMs).toISOString();
    expect(data).toMatchObject({
      apiKey: { name: "Server", scopes: ["catalog:read"] },
      rotated: { id, rotatesTo: data.apiKey.id, version: 2, expiresAt: endsAt },
    });
    const events = (await listen()).slice(1);
    expect(events.map(({ type, subject }) => [type, subject.id, subject.version])).toEqual([
      ["api_key.created", data.apiKey.id, 1],
      ["api_key.rotated", id, 2],
    ]);
    expect(events[1]?.data).toMatchObject({
      object: { rotatesTo: data.apiKey.id, expiresAt: endsAt },
      previous: { version: 1, rotatesTo: null, expiresAt: null },
    });
    expect((await operate(`apiKeyRotate(input: { apiKeyId: "${id}" }) { value }`)).error).toMatchObject({
      code: "invalid_state",
      conflict: { resource: "api_key", id, currentStatus: "rotated", currentVersion: 2 },
    });
    for (const overlapHours of [-1, 169])
      expect(
        (await operate(`apiKeyRotate(input: { apiKeyId: "${id}", overlapHours: ${overlapHours} }) { value }`))
          .error.code,
      ).toBe("invalid_field");
    expect(await listen()).toEqual([]);
  });

  it("are published when an installation's scopes or status change", async () => {
    await setScopes("CATALOG_READ");
    await setScopes("CATALOG_READ");
    await move("installationSuspend");
    await move("installationSuspend");
    await move("installationResume");
    const events = await listen();
    expect(brief(events)).toEqual([
      ["installation.scopes_changed", 2],
      ["installation.suspended", 3],
      ["installation.resumed", 4],
    ]);
    expect(events.map(({ data }) => data.previous)).toEqual([
      { version: 1, scopes: ["catalog:read", "webhooks:read"] },
      { version: 2, status: "active" },
      { version: 3, status: "suspended" },
    ]);
    expect(events.map(({ data }) => [data.object.status, data.object.scopes])).toEqual([
      ["active", ["catalog:read"]],
      ["suspended", ["catalog:read"]],
      ["active", ["catalog:read"]],
    ]);
    expect(new Set(events.map(({ installationId: only, subject }) => `${only} ${subject.id}`))).toEqual(
      new Set([`${installationId} ${installationId}`]),
    );
  });

  it("are not published for refused changes, nor to another merchant", async () => {
    const id = await makeKey();
    await listen();
    const input = `{ installationId: "${installationId}", name: "Greedy", scopes: [WEBHOOKS_WRITE] }`;
    expect((await operate(`apiKeyCreate(input: ${input}) { value }`)).error.code).toBe("invalid_field");
    expect((await operate(`apiKeyRevoke(input: { apiKeyId: "${id}" }) { id }`, "admin")).error.code).toBe(
      "resource_not_found",
    );
    expect(
      (await operate(`installationSuspend(input: { installationId: "${installationId}" }) { id }`, "admin"))
        .error.code,
    ).toBe("resource_not_found");
    expect(await listen()).toEqual([]);
    const { body } = await world.graphql(`{ apiKey(id: "${id}") { id } }`);
    expect(body.data).toEqual({ apiKey: null });
  });

  it("announce the end of a key seven days and one day before, each once", async () => {
    const [month, threeDays, hours] = [
      await makeKey(30 * 24 * hourMs),
      await makeKey(3 * 24 * hourMs),
      await makeKey(12 * hourMs),
    ];
    const gone = await makeKey(30 * 24 * hourMs);
    await revoke(gone);
    await listen();
    const announced = async (): Promise<[string, number][]> => {
      await sweep();
      await sweep();
      return (await listen()).map(({ type, subject }) => {
        expect(type).toBe("api_key.expiring");
        return [subject.id, subject.version];
      });
    };
    expect(await announced()).toEqual([]);
    world.clock.advance(2 * 24 * hourMs + hourMs);
    expect(await announced()).toEqual([[threeDays, 2]]);
    world.clock.advance(21 * 24 * hourMs);
    expect(await announced()).toEqual([[month, 2]]);
    world.clock.advance(6 * 24 * hourMs);
    expect(await announced()).toEqual([[month, 3]]);
    world.clock.advance(24 * hourMs);
    expect(await announced()).toEqual([]);
    expect(hours).toMatch(/^key_/);
  });

  it("announce only the last day if no sweep ran before", async () => {
    const id = await makeKey(8 * 24 * hourMs);
    await listen();
    world.clock.advance(7.5 * 24 * hourMs);
    await sweep();
    const [events, ...others] = await listen();
    expect(others).toEqual([]);
    expect(events).toMatchObject({
      type: "api_key.expiring",
      subject: { id, version: 2 },
      data: { previous: { version: 1 } },
      cause: { actor: "system" },
      installationId,
    });
  });

  it("are published for an uninstalled installation and all of its keys", async () => {
    const keys = [await makeKey(), await makeKey()];
    await listen();
    await move("installationUninstall");
    const events = await listen();
    expect(events[0]).toMatchObject({
      type: "installation.uninstalled",
      subject: { version: 5 },
      data: { object: { status: "uninstalled" } },
    });
    const revoked = events.slice(1);
    expect(new Set(revoked.map(({ type }) => type))).toEqual(new Set(["api_key.revoked"]));
    expect(revoked.map(({ subject }) => subject.id)).toEqual(expect.arrayContaining(keys));
    expect((await move("installationUninstall")).error.code).toBe("invalid_state");
    expect(await listen()).toEqual([]);
  });

  it("never contain a secret, its last characters or its digest", async () => {
    const digests = await world.database.db
      .selectFrom("apiKey")
      .select(["digest", "lastFour"])
      .where("merchantId", "=", merchantId)
      .execute();
    const all = bodies.join("\n");
    expect(secrets.length).toBeGreaterThan(5);
    for (const secret of secrets) {
      expect(secret).toHaveLength(49);
      expect(all).not.toContain(secret);
    }
    for (const { digest, lastFour } of digests) {
      const bytes = Buffer.from(digest);
      for (const encoding of ["hex", "base64", "base64url"] as const)
        expect(all).not.toContain(bytes.toString(encoding));
      expect(all).not.toContain(`"${lastFour}"`);
    }
  });
});
