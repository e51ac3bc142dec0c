/**
 * The repository contains no secrets. `npm run lint:secrets` knows the common formats; this test knows the
 * service's formats.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { generateCredentialSecret, parseCredentialSecret } from "#access/keys/verify-keys.ts";
import { createWebhookSecret } from "#webhooks/signatures.ts";

const root = new URL("../../", import.meta.url).pathname;
const ours = /\b(cpk|cit)_[a-z]+_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b/g;
const signing = /\bwhsec_[A-Za-z0-9+/]{24,}={0,2}/g;
/**
 * Fixed examples that are no secrets: counting bytes, the example of Standard Webhooks, and a text that says
 * that it is an example.
 */
const shown = new Set([
  "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=",
  "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ",
]);

/** Finds keys and tokens; a valid checksum distinguishes them from similar texts. */
function secretsIn(text: string): string[] {
  const keys = [...text.matchAll(ours)].flatMap(([value, kind]) =>
    parseCredentialSecret(kind === "cpk" ? "cpk" : "cit", value) === undefined ? [] : [value],
  );
  return [
    ...keys,
    ...[...text.matchAll(signing)].map(([value]) => value).filter((value) => !shown.has(value)),
  ];
}

/** Lists all committed and uncommitted files, hidden or not, without those deleted but not yet committed. */
function filesOfRepository(): string[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  return listed.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
}

it("the repository has no complete API key, internal token or webhook secret of the service", () => {
  const files = filesOfRepository();
  expect(files.length).toBeGreaterThan(500);
  expect(files).toEqual(expect.arrayContaining([".gitignore", ".npmrc", "package.json"]));
  expect(files.filter((file) => secretsIn(readFileSync(join(root, file), "utf8")).length > 0)).toEqual([]);
});

it.each(["cpk", "cit"] as const)("the secret scan finds a %s", (kind) => {
  const { value } = generateCredentialSecret(kind, "live");
  expect(secretsIn(`const key = "${value}";`)).toEqual([value]);
  expect(secretsIn(`${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`)).toEqual([]);
});

it("the secret scan finds a webhook secret", () => {
  const value = createWebhookSecret();
  expect(secretsIn(`{"secret":"${value}"}`)).toEqual([value]);
});

it("the secret scan finds a third-party key, by the rules of the repository", async () => {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  try {
    // The secret is assembled here, so that this file is not reported.
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
    const scan = await promisify(execFile)(
      process.execPath,
      [binary, "--secretlintrc", join(root, ".secretlintrc.json"), "**/*"],
      {
        cwd: folder,
      },
    ).catch((error: unknown) => error as { code?: number; stdout: string });
    expect(scan).toMatchObject({ code: 1, stdout: expect.stringContaining("planted.txt") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
