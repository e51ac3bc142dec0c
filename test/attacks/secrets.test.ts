/**
 * No secret stands in the repository: `npm run lint:secrets` knows those of the world, and here are those of
 * our own making.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { mintSecret, parseSecret } from "#access/keys/verify-keys.ts";
import { createWebhookSecret } from "#webhooks/signatures.ts";

const root = new URL("../../", import.meta.url).pathname;
const ours = /\b(cpk|cit)_[a-z]+_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/g;
const signing = /\bwhsec_[A-Za-z0-9+/]{24,}={0,2}/g;
/** Nobody's: bytes that count up, those that Standard Webhooks shows, and a text that says what it is. */
const shown = new Set([
  "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=",
  "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ",
]);

/** By its checksum a key or a token is told from what only looks like one. */
function secretsIn(text: string): string[] {
  const keys = [...text.matchAll(ours)].flatMap(([value, kind]) =>
    parseSecret(kind === "cpk" ? "cpk" : "cit", value) === undefined ? [] : [value],
  );
  return [
    ...keys,
    ...[...text.matchAll(signing)].map(([value]) => value).filter((value) => !shown.has(value)),
  ];
}

/**
 * All that is committed or about to be, hidden or not. What was taken away is in the list until that is
 * committed.
 */
function filesOfRepository(): string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  return listed.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
}

it("the repository has no API key, no internal token and no webhook secret of ours that is whole", () => {
  const files = filesOfRepository();
  expect(files.length).toBeGreaterThan(500);
  expect(files).toEqual(expect.arrayContaining([".gitignore", ".npmrc", "package.json"]));
  expect(files.filter((file) => secretsIn(readFileSync(join(root, file), "utf8")).length > 0)).toEqual([]);
});

it.each(["cpk", "cit"] as const)("would find a %s that somebody has left there", (kind) => {
  const { value } = mintSecret(kind, "live");
  expect(secretsIn(`const key = "${value}";`)).toEqual([value]);
  expect(secretsIn(`${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`)).toEqual([]);
});

it("would find a webhook secret that somebody has left there", () => {
  const value = createWebhookSecret();
  expect(secretsIn(`{"secret":"${value}"}`)).toEqual([value]);
});

it("would find a key of somebody else's, by the rules of the repository", async () => {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  try {
    // Put together here, lest it be found in this file.
    writeFileSync(
      join(folder, "planted.txt"),
      ["-----BEGIN RSA", "KEY-----"].join(" PRIVATE ") +
        `\n${"MIIEpAIBAAKCAQEA".repeat(12)}\n` +
        ["-----END RSA", "KEY-----\n"].join(" PRIVATE "),
    );
    const { bin } = JSON.parse(readFileSync(join(root, "node_modules/secretlint/package.json"), "utf8")) as {
      bin: string;
    };
    const binary = join(root, "node_modules/secretlint", bin);
    const told = await promisify(execFile)(
      process.execPath,
      [binary, "--secretlintrc", join(root, ".secretlintrc.json"), "**/*"],
      {
        cwd: folder,
      },
    ).catch((error: unknown) => error as { code?: number; stdout: string });
    expect(told).toMatchObject({ code: 1, stdout: expect.stringContaining("planted.txt") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
