/**
 * PGlite's encryption key file: created once, readable only by its owner, shared by all processes, never
 * replaced.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadOrCreateEncryptionKeys } from "#app/encryption-keys.ts";
import { DataFolderUnusableError } from "#database/folder-lock.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keys-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (): string => join(folder, "encryption-keys");

it("the file of encryption keys is created at the first start for its owner only, and then kept", () => {
  const made = loadOrCreateEncryptionKeys(folder);
  expect(made).toEqual([
    { id: expect.stringMatching(/^local-[\da-f]{8}$/) as unknown, key: expect.any(Buffer) as unknown },
  ]);
  expect(made[0]?.key.length).toBe(32);
  expect(statSync(pathOf()).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["encryption-keys"]);
  expect(loadOrCreateEncryptionKeys(folder)).toEqual(made);
});

it("the file of encryption keys differs between folders, and a missing folder is created", () => {
  const inside = join(folder, "new", "data");
  expect(loadOrCreateEncryptionKeys(inside)).not.toEqual(loadOrCreateEncryptionKeys(folder));
  expect(statSync(inside).mode & 0o777).toBe(0o700);
});

it("the file of encryption keys may contain several keys in the setting's format", () => {
  const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  writeFileSync(pathOf(), `new:${b.toString("base64")},old:${a.toString("base64")}\n`);
  expect(loadOrCreateEncryptionKeys(folder)).toEqual([
    { id: "new", key: b },
    { id: "old", key: a },
  ]);
});

it("the file of encryption keys is the same and complete for eight processes starting at once", async () => {
  const script = `
    import { loadOrCreateEncryptionKeys } from "#app/encryption-keys.ts";
    const [folder, at] = process.argv.slice(1);
    await new Promise((done) => setTimeout(done, Number(at) - Date.now() - 20));
    while (Date.now() < Number(at));
    console.log(JSON.stringify(loadOrCreateEncryptionKeys(folder)));`;
  const at = String(Date.now() + 1500);
  const root = new URL("../../", import.meta.url).pathname;
  const children = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ["--input-type=module-typescript", "--eval", script, folder, at], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  const outputs = await Promise.all(children.map(({ stdout }) => text(stdout)));
  expect(new Set(outputs).size).toBe(1);
  expect(JSON.parse(outputs[0] ?? "")).toEqual(
    JSON.parse(JSON.stringify(loadOrCreateEncryptionKeys(folder))),
  );
  expect(readdirSync(folder)).toEqual(["encryption-keys"]);
});

it.each([
  ["is empty", ""],
  ["was cut off", "local-1:AAAA"],
  ["has an id twice", `a:${Buffer.alloc(32).toString("base64")},a:${Buffer.alloc(32).toString("base64")}`],
])(
  "the file of encryption keys stops the start with a line that names the file if it %s, and is not changed",
  (_name, content) => {
    writeFileSync(pathOf(), content);
    expect(() => loadOrCreateEncryptionKeys(folder)).toThrow(DataFolderUnusableError);
    expect(() => loadOrCreateEncryptionKeys(folder)).toThrow(
      `${pathOf()} is damaged: it must be a comma-separated list of id:base64, each key 32 bytes.`,
    );
    expect(readFileSync(pathOf(), "utf8")).toBe(content);
    expect(readdirSync(folder)).toEqual(["encryption-keys"]);
  },
);

it("the file of encryption keys stops the start with the setting's name if the folder cannot be used", () => {
  writeFileSync(join(folder, "file"), "");
  const inside = join(folder, "file", "data");
  expect(() => loadOrCreateEncryptionKeys(inside)).toThrow(`DATA_DIR ${inside} cannot be used: ENOTDIR`);
});
