/** Checks of a DPoP proof beside its signature: the request address, and that the proof is used once. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import {
  normalizeDpopProofUrl,
  deleteExpiredDpopProofs,
  recordFirstUseOfDpopProof,
} from "#access/oauth/dpop.ts";
import { sweeps } from "#app/sweeps.ts";
import type { Database } from "#database/connect.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnBoth } from "#test/support/databases.ts";

describe("the address of a request", () => {
  const address = "https://api.test/api/v1/open/identity";

  it.each([
    ["as it is", address],
    ["scheme and host in capitals", "HTTPS://API.TEST/api/v1/open/identity"],
    ["with the scheme's own port", "https://api.test:443/api/v1/open/identity"],
    ["with an empty port", "https://api.test:/api/v1/open/identity"],
    ["with a query", `${address}?x=1`],
    ["with a fragment", `${address}#x`],
    ["with dot segments", "https://api.test/x/../api/./v1/open/identity"],
    ["with letters encoded that need not be", "https://api.test/api/v1/%6fpen/%69dentity"],
    ["with encoded dot segments", "https://api.test/x/%2e%2E/api/v1/open/identity"],
  ])("is the same %s", (_name, same) => {
    expect(normalizeDpopProofUrl(same)).toBe(address);
  });

  it.each([
    ["another path", "https://api.test/api/v1/open/identity/"],
    ["a path in capitals", "https://api.test/API/v1/open/identity"],
    ["a doubled slash", "https://api.test//api/v1/open/identity"],
    ["an encoded slash", "https://api.test/api/v1/open%2Fidentity"],
    ["another scheme", "http://api.test/api/v1/open/identity"],
    ["another port", "https://api.test:8443/api/v1/open/identity"],
    ["another host", "https://api.test.example/api/v1/open/identity"],
    ["user information", "https://user@api.test/api/v1/open/identity"],
    ["a dot after the host", "https://api.test./api/v1/open/identity"],
  ])("differs with %s", (_name, other) => {
    expect(normalizeDpopProofUrl(other)).not.toBe(address);
  });

  it.each([
    "",
    "/api/v1/open/identity",
    "//api.test/api/v1/open/identity",
    "api.test/api/v1/open/identity",
    "https:api.test/api/v1/open/identity",
    "https:/api.test/api/v1/open/identity",
    "https:\\\\api.test\\api\\v1\\open\\identity",
    " https://api.test/api/v1/open/identity",
    "https://api.test/api/v1/open/identity\n",
    "https://api.test/api/v1/open/\tidentity",
    "https://api.test/api/v1/open/idéntity",
    "ftp://api.test/x",
    "https://",
    "https://api.test:x/",
  ])("cannot be read from %j", (text) => {
    expect(normalizeDpopProofUrl(text)).toBeUndefined();
  });

  it("has upper-case percent-encodings, and keeps encodings that carry meaning", () => {
    expect(normalizeDpopProofUrl("https://api.test/a%2fb%c3%a4%7E%41")).toBe(
      "https://api.test/a%2Fb%C3%A4~A",
    );
  });
});

describeOnBoth("a proof", (open) => {
  const now = new Date("2026-06-01T00:00:00.000Z");
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  const proof = (jti: string, thumbprint = "t".repeat(43)): { jti: string; thumbprint: string } => ({
    jti,
    thumbprint,
  });
  let db: Database;
  beforeAll(async () => {
    ({ db } = await open({ poolSize: 10 }));
  });

  const codeOf = (work: Promise<void>): Promise<string> =>
    work.then(
      () => "good",
      (error: unknown) => (error instanceof Failure ? error.code : String(error)),
    );

  it("is used once, by whichever of ten concurrent requests comes first", async () => {
    expect(await codeOf(recordFirstUseOfDpopProof(db, proof("a"), now))).toBe("good");
    expect(await codeOf(recordFirstUseOfDpopProof(db, proof("a"), later(1)))).toBe("dpop_proof_invalid");
    for (let round = 0; round < 20; round += 1) {
      const codes = await Promise.all(
        Array.from({ length: 10 }, () => codeOf(recordFirstUseOfDpopProof(db, proof(`many ${round}`), now))),
      );
      expect(codes.toSorted()).toEqual([...Array.from({ length: 9 }, () => "dpop_proof_invalid"), "good"]);
    }
  });

  it("is a different one with another id or another key", async () => {
    expect(await codeOf(recordFirstUseOfDpopProof(db, proof("b"), now))).toBe("good");
    expect(await codeOf(recordFirstUseOfDpopProof(db, proof("b "), now))).toBe("good");
    expect(await codeOf(recordFirstUseOfDpopProof(db, proof("b", "u".repeat(43)), now))).toBe("good");
  });

  it("is remembered for five minutes, only as a hash", async () => {
    await db.deleteFrom("dpopProof").execute();
    await recordFirstUseOfDpopProof(db, proof("c"), now);
    const digest = createHash("sha256")
      .update(`${"t".repeat(43)}.c`)
      .digest();
    expect(await db.selectFrom("dpopProof").selectAll().execute()).toEqual([
      { digest: expect.any(Uint8Array), expiresAt: later(300_000) },
    ]);
    const [row] = await db.selectFrom("dpopProof").select("digest").execute();
    expect(Buffer.from(row?.digest ?? []).equals(digest)).toBe(true);
    expect(await deleteExpiredDpopProofs(db, later(299_999))).toBe(0);
    expect(await codeOf(recordFirstUseOfDpopProof(db, proof("c"), later(299_999)))).toBe(
      "dpop_proof_invalid",
    );
    expect(await deleteExpiredDpopProofs(db, later(300_000))).toBe(1);
  });

  it("is deleted by the sweeps, in any number", async () => {
    expect(sweeps.map(({ name }) => name)).toContain("delete used DPoP proofs");
    const rows = Array.from({ length: 1500 }, (_, index) => ({
      digest: createHash("sha256").update(String(index)).digest(),
      expiresAt: now,
    }));
    await db.insertInto("dpopProof").values(rows).execute();
    expect(await deleteExpiredDpopProofs(db, now, AbortSignal.abort())).toBe(1000);
    expect(await deleteExpiredDpopProofs(db, now)).toBe(500);
  });
});
