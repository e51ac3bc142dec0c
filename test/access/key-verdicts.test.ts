/**
 * The verdict about a key or token, given its database row: the order of the reasons, and what each discloses
 * to whom.
 */
import { describe, expect, it } from "vitest";
import {
  authenticateApiKey,
  type ApiKeyVerificationData,
  generateCredentialSecret,
  findOwnerOfRefusedApiKey,
  getApiKeySuspensionCause,
} from "#access/keys/verify-keys.ts";
import {
  authenticateInternalToken,
  type InternalTokenVerificationData,
} from "#access/keys/internal-tokens.ts";

const now = new Date("2026-06-01T00:00:00.000Z");
const later = (ms: number): Date => new Date(now.getTime() + ms);
const refusalOf = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => expect.unreachable(),
    (error: { code: string; message: string }) => error,
  );

describe("an API key", () => {
  const { value, id: keyId, digest, prefix } = generateCredentialSecret("cpk", "live");
  const row: ApiKeyVerificationData = {
    id: "key_1",
    keyId,
    mode: "live",
    digest,
    scopes: ["catalog:read", "webhooks:read", "gone:scope"],
    installationScopes: ["catalog:read", "gone:scope"],
    installationId: "ins_1",
    appId: "app_1",
    merchantId: "mer_1",
    expiresAt: null,
    revokedAt: null,
    installationStatus: "active",
    merchantStatus: "active",
  };
  const check = (change: Partial<ApiKeyVerificationData> | undefined = {}) =>
    authenticateApiKey(value, now, () => Promise.resolve(Object.assign({}, row, change)));

  it("is looked up by its id and a digest of the whole key, which reveals nothing", async () => {
    const asked: unknown[] = [];
    const find = (presented: unknown): Promise<undefined> => (
      asked.push(presented),
      Promise.resolve(undefined)
    );
    expect(await refusalOf(authenticateApiKey(value, now, find))).toMatchObject({ code: "api_key_invalid" });
    expect(asked).toEqual([{ keyId, digest: digest.toString("base64") }]);
    for (const none of ["", "cpk_live_x", generateCredentialSecret("cit", "admin").value])
      expect(await refusalOf(authenticateApiKey(none, now, find))).toMatchObject({ code: "api_key_invalid" });
    expect(asked).toHaveLength(1);
  });

  it("has the scopes that the key, its installation and this service have in common", async () => {
    const viewer = await check();
    expect(viewer).toEqual({
      kind: "api_key",
      apiKeyId: "key_1",
      keyPrefix: prefix,
      installationId: "ins_1",
      appId: "app_1",
      merchantId: "mer_1",
      scopes: new Set(["catalog:read"]),
      suspended: null,
    });
  });

  it("that is cached has one viewer object as long as it is cached", async () => {
    const find = (): Promise<ApiKeyVerificationData> => Promise.resolve(row);
    expect(await authenticateApiKey(value, now, find)).toBe(await authenticateApiKey(value, later(1), find));
  });

  it.each<[Partial<ApiKeyVerificationData>, string]>([
    [{ revokedAt: later(60_000) }, "api_key_revoked"],
    [{ installationStatus: "uninstalled" }, "api_key_revoked"],
    [{ revokedAt: now, expiresAt: now }, "api_key_revoked"],
    [{ expiresAt: now }, "api_key_expired"],
    [{ expiresAt: later(-1) }, "api_key_expired"],
  ])("with %j is refused as %s, and its owner is named", async (change, code) => {
    const refusal = await refusalOf(check(change));
    expect(refusal).toMatchObject({ code });
    expect(findOwnerOfRefusedApiKey(refusal)).toEqual({
      credentialId: "key_1",
      merchantId: "mer_1",
      installationId: "ins_1",
    });
  });

  it("that is unknown is refused without an owner", async () => {
    for (const error of [new Error("Something else."), null, undefined, "api_key_revoked"])
      expect(findOwnerOfRefusedApiKey(error)).toBeUndefined();
    const unknown = await refusalOf(authenticateApiKey(value, now, () => Promise.resolve(undefined)));
    expect(findOwnerOfRefusedApiKey(unknown)).toBeUndefined();
    expect(await check({ expiresAt: later(1) })).toMatchObject({ kind: "api_key" });
  });

  it.each([
    ["active", "active", null],
    ["suspended", "active", "merchant_suspended"],
    ["active", "suspended", "installation_suspended"],
    ["suspended", "suspended", "merchant_suspended"],
  ])(
    "of a merchant that is %s and an installation that is %s is suspended as %s",
    (merchantStatus, installationStatus, suspended) => {
      expect(getApiKeySuspensionCause({ merchantStatus, installationStatus })).toBe(suspended);
    },
  );
});

describe("an internal token", () => {
  const { value, id: tokenId, digest } = generateCredentialSecret("cit", "admin");
  const row: InternalTokenVerificationData = {
    id: "tok_1",
    role: "admin",
    merchantId: "mer_1",
    documents: "any",
    digest,
    expiresAt: null,
    revokedAt: null,
    merchantStatus: "active",
    allowedOrigins: null,
  };
  const check = (change: Partial<InternalTokenVerificationData> = {}) =>
    authenticateInternalToken(value, now, () => Promise.resolve({ ...row, ...change }));

  it("is looked up by its id and a digest of the whole token, and names the caller", async () => {
    const asked: unknown[] = [];
    const find = (presented: unknown): Promise<InternalTokenVerificationData> => (
      asked.push(presented),
      Promise.resolve(row)
    );
    expect(await authenticateInternalToken(value, now, find)).toEqual({
      kind: "internal",
      tokenId: "tok_1",
      role: "admin",
      merchantId: "mer_1",
      documents: "any",
    });
    expect(asked).toEqual([{ tokenId, digest: digest.toString("base64") }]);
  });

  it("that is malformed or unknown is invalid, and the message describes only its form", async () => {
    const unknown = (): Promise<undefined> => Promise.resolve(undefined);
    expect(
      await refusalOf(authenticateInternalToken(generateCredentialSecret("cpk", "live").value, now, unknown)),
    ).toMatchObject({
      code: "api_key_invalid",
      message: expect.stringContaining(
        "API keys (cpk_…) and OAuth access tokens work only for the REST API.",
      ),
    });
    for (const [text, message] of [
      ["", /^The value is not an internal token/],
      ["cit_admin_x", /mistyped or cut off: it has 11 characters instead of 72/],
      [`${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`, /checksum .* does not match/],
      [value, /has no such internal token/],
    ] as const)
      expect(await refusalOf(authenticateInternalToken(text, now, unknown))).toMatchObject({
        code: "api_key_invalid",
        message: expect.stringMatching(message),
      });
  });

  it.each<[Partial<InternalTokenVerificationData>, string, string?]>([
    [{ revokedAt: later(60_000) }, "api_key_revoked", "The internal token was revoked."],
    [{ revokedAt: now, expiresAt: now, merchantStatus: "suspended" }, "api_key_revoked"],
    [{ expiresAt: now }, "api_key_expired", "The internal token has expired."],
    [{ expiresAt: now, merchantStatus: "suspended" }, "api_key_expired"],
    [{ merchantStatus: "suspended" }, "merchant_suspended"],
  ])("with %j is refused as %s", async (change, code, message) => {
    const refusal = await refusalOf(check(change));
    expect(refusal.code).toBe(code);
    if (message !== undefined) expect(refusal.message).toBe(message);
  });

  it("of the platform, or one that expires soon, is accepted", async () => {
    expect(await check({ merchantId: null, merchantStatus: null })).toMatchObject({ merchantId: null });
    expect(await check({ expiresAt: later(1) })).toMatchObject({ tokenId: "tok_1" });
  });
});
