/** docs/security.md names an existing test for each protection, and names every test of this folder. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url).pathname;
const text = readFileSync(join(root, "docs/security.md"), "utf8");
const rows = (/## Protections\n([\s\S]*?)\n## /.exec(text)?.[1] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:attack|-)/.test(line));

it("docs/security.md names an existing test for each protection", () => {
  expect(rows.length).toBeGreaterThan(20);
  for (const row of rows) {
    const [, file] = /`(test\/[\w/.-]+\.test\.ts)` \|$/.exec(row) ?? [];
    expect([row, file !== undefined && existsSync(join(root, file))]).toEqual([row, true]);
  }
});

it("docs/security.md names a guard and an existing test for each risk of the OWASP API Security Top 10", () => {
  const risks = (/## OWASP API Security Top 10\n([\s\S]*?)\n## /.exec(text)?.[1] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| API"));
  expect(risks.map((line) => /^\| (API\d+:2023) [A-Z]/.exec(line)?.[1])).toEqual(
    Array.from({ length: 10 }, (_, index) => `API${index + 1}:2023`),
  );
  for (const risk of risks) {
    const [, guard = "", file = "", title = ""] =
      /\| `(src\/[\w/.-]+\.ts)` \| `(test\/[\w/.-]+\.test\.ts)`: "([^"|]+)" \|/.exec(risk) ?? [];
    const paths = [guard, file, ...[...risk.matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path)];
    expect([risk, paths.filter((path) => path === "" || !existsSync(join(root, path)))]).toEqual([risk, []]);
    // The title is that of a test, or of a group of tests, as the test file has it.
    const source = readFileSync(join(root, file), "utf8");
    expect([title, isTitleOfTest(source, title)]).toEqual([title, true]);
  }
});

/** Returns whether a test file has a test or a group of tests with the title. */
function isTitleOfTest(source: string, title: string): boolean {
  const at = source.indexOf(`"${title}"`);
  return at !== -1 && /\b(?:it|test|describe)(?:\.each)?\([^;]*$/.test(source.slice(0, at));
}

it("a title that a test file does not have, or has only as a value, is found", () => {
  const source = 'it("refuses a code", () => {});\nconst code = "refuses";\n';
  expect(["refuses a code", "refuses", "accepts"].map((title) => isTitleOfTest(source, title))).toEqual([
    true,
    false,
    false,
  ]);
});

it("docs/security.md names each test of test/attacks", () => {
  const tests = globSync("test/attacks/*.test.ts", { cwd: root }).filter(
    (file) => !file.endsWith("threat-model.test.ts"),
  );
  expect(tests.filter((file) => !text.includes(`\`${file}\``))).toEqual([]);
});

it("code compares secrets only with `timingSafeEqual`", () => {
  const names = "digest|hash|mac|signature|secret|password|token|cookie|csrf|verifier";
  const secret = String.raw`(?:${names})(?:Of)?(?:\([^()]*\))?`;
  const value = String.raw`(?!undefined\b|null\b|"|typeof\b)`;
  const compared = new RegExp(
    String.raw`${secret} [!=]== ${value}|[!=]== ${value}[\w.]*${secret}(?![\w.])|${secret}\??\.equals\(`,
    "i",
  );
  // Allowed comparisons: a length, the public token names of the test provider, a proof's hash of the token
  // that it came with, and hashes of GraphQL documents, event ids and rows, which are not secret.
  const known = [
    ".length",
    "paymentTokens",
    'payload["ath"]',
    "hashGraphqlDocumentText(query)",
    "id !== apolloHash",
    "hashId(",
    "row.digest",
  ];
  // Scripts in browsers compare only values that the browser already has.
  const files = globSync("src/**/*.{ts,tsx}", { cwd: root, exclude: ["src/pages/*/browser/**"] });
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .filter((line) => compared.test(line) && !known.some((word) => line.includes(word)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
