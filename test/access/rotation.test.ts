/**
 * Rotating an API key creates an equal successor. Both keys work during the overlap, and a key has at most
 * one successor.
 */
import { beforeAll, expect, it } from "vitest";
import { verifyApiKey } from "#access/keys/verify-keys.ts";
import {
  type AccessManagementCommandContext,
  type CreatedApiKey,
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  type RotateApiKeyInput,
} from "#access/keys/manage-keys.ts";
import { findExpiringApiKeys } from "#access/keys/expiry-notices.ts";
import { updateInstallation, registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import { findApiKeys } from "#access/keys/read-credentials.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const now = new Date("2026-06-01T00:00:00.000Z");
const hourMs = 3_600_000;
const hours = (count: number): Date => new Date(now.getTime() + count * hourMs);
const platform = { merchantId: null, now };

describeOnBoth("rotating an API key", (open) => {
  let db: Database;
  let merchantId = "";
  let installationId = "";
  beforeAll(async () => {
    ({ db } = await open({ poolSize: 10 }));
    await runInTransaction(db, async (transaction) => {
      const input = {
        slug: "one",
        name: "One",
        mode: "live",
        defaultLocale: "en",
        defaultMarket: "DE",
      } as const;
      merchantId = await createMerchant(transaction, platform, input);
      const appId = await registerApp(transaction, platform, { name: "App", publisher: null });
      installationId = await createInstallation(transaction, platform, {
        merchantId,
        appId,
        scopes: ["webhooks:read", "catalog:read"],
      });
    });
  });

  const create = (expiresAt: Date | null = null): Promise<CreatedApiKey> =>
    runInTransaction(db, (transaction) =>
      createApiKey(transaction, platform, {
        installationId,
        name: "Server",
        scopes: ["catalog:read", "webhooks:read"],
        expiresAt,
      }),
    );
  const rotate = (
    apiKeyId: string,
    input: Partial<RotateApiKeyInput> = {},
    access: AccessManagementCommandContext = platform,
  ): Promise<CreatedApiKey> =>
    runInTransaction(db, (transaction) => rotateApiKey(transaction, access, { apiKeyId, ...input }));
  const rowOf = async (apiKeyId: string) => (await findApiKeys(db, [apiKeyId]))[0];
  const countOf = async (): Promise<number> => (await db.selectFrom("apiKey").select("id").execute()).length;
  const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
    const error: unknown = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof Failure)) throw new Error(`It is no failure: ${String(error)}`);
    return error;
  };
  const codeOf = async (work: Promise<unknown>): Promise<string> => (await failureOf(work)).code;

  it("creates one with equal name, scopes, mode and installation; both work for 24 hours", async () => {
    const old = await create();
    const made = await rotate(old.apiKeyId);
    expect(await rowOf(made.apiKeyId)).toMatchObject({
      name: "Server",
      mode: "live",
      scopes: ["catalog:read", "webhooks:read"],
      installationId,
      merchantId,
      createdAt: now,
      expiresAt: null,
      rotatesTo: null,
      version: 1,
    });
    expect(await rowOf(old.apiKeyId)).toMatchObject({
      rotatesTo: made.apiKeyId,
      expiresAt: hours(24),
      revokedAt: null,
      version: 2,
    });
    expect(made.value).not.toBe(old.value);
    const lastMoment = new Date(hours(24).getTime() - 1);
    expect((await verifyApiKey(db, old.value, lastMoment)).apiKeyId).toBe(old.apiKeyId);
    expect([...(await verifyApiKey(db, made.value, lastMoment)).scopes]).toEqual([
      "catalog:read",
      "webhooks:read",
    ]);
    expect(await codeOf(verifyApiKey(db, old.value, hours(24)))).toBe("api_key_expired");
    expect((await verifyApiKey(db, made.value, hours(24))).apiKeyId).toBe(made.apiKeyId);
  });

  it.each([
    [0, null, 0],
    [168, null, 168],
    [24, 12, 12],
    [24, 24, 24],
    [24, 25, 24],
  ])(
    "with %i hours of overlap ends a key that had %s hours left after %i",
    async (overlapHours, left, ends) => {
      const { apiKeyId, value } = await create(left === null ? null : hours(left));
      await rotate(apiKeyId, { overlapHours });
      expect((await rowOf(apiKeyId))?.expiresAt).toEqual(hours(ends));
      if (ends === 0) expect(await codeOf(verifyApiKey(db, value, now))).toBe("api_key_expired");
    },
  );

  it("gives the successor the requested end", async () => {
    const { apiKeyId } = await create();
    const made = await rotate(apiKeyId, { expiresAt: hours(1000) });
    expect((await rowOf(made.apiKeyId))?.expiresAt).toEqual(hours(1000));
  });

  it("keeps a scope that the installation has lost; both keys regain it with the installation", async () => {
    const { apiKeyId } = await create();
    const setScopes = (scopes: ("catalog:read" | "webhooks:read")[]) =>
      runInTransaction(db, (transaction) =>
        updateInstallation(transaction, platform, { installationId, scopes }),
      );
    await setScopes(["webhooks:read"]);
    const { value } = await rotate(apiKeyId);
    expect([...(await verifyApiKey(db, value, now)).scopes]).toEqual(["webhooks:read"]);
    await setScopes(["catalog:read", "webhooks:read"]);
    expect([...(await verifyApiKey(db, value, now)).scopes]).toEqual(["catalog:read", "webhooks:read"]);
  });

  it("refuses rotated, revoked, expired, unknown and foreign keys, and creates nothing", async () => {
    const [rotated, revoked, expired, foreign] = [
      await create(),
      await create(),
      await create(hours(1)),
      await create(),
    ];
    await rotate(rotated.apiKeyId);
    await runInTransaction(db, (transaction) => revokeApiKey(transaction, platform, revoked.apiKeyId));
    const before = await countOf();
    const refusals = await Promise.all([
      failureOf(rotate(rotated.apiKeyId)),
      failureOf(rotate(revoked.apiKeyId)),
      failureOf(rotate(expired.apiKeyId, {}, { merchantId: null, now: hours(1) })),
    ]);
    expect(refusals.map(({ code, status, parts }) => ({ code, status, conflict: parts.conflict }))).toEqual(
      [
        [rotated, "rotated", 2],
        [revoked, "revoked", 2],
        [expired, "expired", 1],
      ].map(([key, state, version]) => ({
        code: "invalid_state",
        status: 409,
        conflict: {
          resource: "api_key",
          id: (key as CreatedApiKey).apiKeyId,
          currentStatus: state,
          currentVersion: version,
          reason: state,
          data: {},
        },
      })),
    );
    expect(await codeOf(rotate("key_none"))).toBe("resource_not_found");
    expect(await codeOf(rotate(foreign.apiKeyId, {}, { merchantId: "mer_other", now }))).toBe(
      "resource_not_found",
    );
    expect(await countOf()).toBe(before);
    expect(await rowOf(foreign.apiKeyId)).toMatchObject({ rotatesTo: null, expiresAt: null, version: 1 });
  });

  it("succeeds for one of ten concurrent rotations of the same key", async () => {
    const { apiKeyId } = await create();
    const before = await countOf();
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => rotate(apiKeyId)));
    const made = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(made).toHaveLength(1);
    expect(tries.flatMap((one) => (one.status === "rejected" ? [(one.reason as Failure).code] : []))).toEqual(
      Array(9).fill("invalid_state"),
    );
    expect(await countOf()).toBe(before + 1);
    expect(await rowOf(apiKeyId)).toMatchObject({ rotatesTo: made[0]?.apiKeyId, version: 2 });
  });

  it("can be repeated with the successor; revoking one key leaves the others", async () => {
    const first = await create();
    const second = await rotate(first.apiKeyId);
    const third = await rotate(second.apiKeyId);
    await runInTransaction(db, (transaction) => revokeApiKey(transaction, platform, second.apiKeyId));
    expect(await codeOf(verifyApiKey(db, second.value, now))).toBe("api_key_revoked");
    for (const { value, apiKeyId } of [first, third])
      expect((await verifyApiKey(db, value, now)).apiKeyId).toBe(apiKeyId);
  });

  it("publishes the successor and the old key with its previous values", async () => {
    const { apiKeyId } = await create(hours(12));
    const { apiKeyId: next, events } = await rotate(apiKeyId);
    const owner = { merchantId, installationId };
    expect(events).toEqual([
      { type: "api_key.created", id: next, ...owner, previous: null },
      { type: "api_key.rotated", id: apiKeyId, ...owner, previous: { version: 1, rotatesTo: null } },
    ]);
    const unending = await create();
    expect((await rotate(unending.apiKeyId)).events[1]?.previous).toEqual({
      version: 1,
      rotatesTo: null,
      expiresAt: null,
    });
  });

  it.each([
    [24, []],
    [25, [1]],
    [168, [144]],
  ])(
    "with %i hours of overlap announces the end only at times that the rotation did not announce",
    async (overlapHours, announcedAfter) => {
      const { apiKeyId } = await create();
      // The end of an old key is announced seven days and one day before.
      await db
        .updateTable("apiKey")
        .set({ createdAt: hours(-10_000) })
        .where("id", "=", apiKeyId)
        .execute();
      await rotate(apiKeyId, { overlapHours });
      const isDueAfter = async (count: number): Promise<boolean> =>
        (await findExpiringApiKeys(db, { now: hours(count), after: "", rowsMax: 10_000 })).some(
          ({ id }) => id === apiKeyId,
        );
      const due = [];
      for (const count of [0, 1, 143, 144])
        if (count < overlapHours && (await isDueAfter(count))) due.push(count);
      expect(due).toEqual(announcedAfter);
    },
  );
});
