/**
 * The project's own rules, run as tests: layers import downwards only, files stay readable, every operation
 * has its document, route and test.
 */
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { filesWithUnsafeAssertions } from "../oxlint.config.ts";
import { readContract } from "#test/support/openapi.ts";
import { createWorld } from "#test/support/world.ts";

const root = new URL("../", import.meta.url).pathname;
const filesUnder = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(ending),
  );

describe("the layers", () => {
  /**
   * Lints a temporary project with the real rules, so that the real project never contains a deliberate
   * fault.
   */
  async function lint(files: Readonly<Record<string, string>>): Promise<string[]> {
    const project = mkdtempSync(join(tmpdir(), "layers-"));
    try {
      for (const name of ["oxlint.config.ts", "package.json", "tsconfig.json"])
        cpSync(join(root, name), join(project, name));
      symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(project, name, ".."), { recursive: true });
        writeFileSync(join(project, name), text);
      }
      const binary = join(root, "node_modules/oxlint/bin/oxlint");
      const { stdout } = await promisify(execFile)(process.execPath, [binary, "--format=json", "src"], {
        cwd: project,
      }).catch((error: unknown) => error as { stdout: string });
      const { diagnostics } = JSON.parse(stdout) as {
        diagnostics: { code: string; filename: string; message: string; help?: string }[];
      };
      return diagnostics.map(({ code, filename }) => `${filename}: ${code}`);
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  }

  const value = "/** A thing. */\nexport const thing = 1;\n";
  const use = (from: string): string =>
    `/** Its user. */\nimport { thing } from "${from}";\n\nexport const used = thing + 1;\n`;

  it("may be imported downwards", async () => {
    expect(
      await lint({ "src/foundation/thing.ts": value, "src/commerce/user.ts": use("#foundation/thing.ts") }),
    ).toEqual([]);
  });

  it.each([
    ["foundation", "commerce"],
    ["database", "access"],
    ["access", "commerce"],
    ["commerce", "graph"],
    ["commerce", "access"],
    ["graph", "gateway"],
    ["http", "mesh"],
    ["mesh", "gateway"],
    ["gateway", "commerce"],
    ["graphql", "commerce"],
    ["pages", "gateway"],
    ["demo", "pages"],
    ["pages", "mcp"],
    ["app", "cli"],
  ])("refuse an import from %s of %s", async (layer, above) => {
    expect(
      await lint({ [`src/${above}/thing.ts`]: value, [`src/${layer}/user.ts`]: use(`#${above}/thing.ts`) }),
    ).toEqual([`src/${layer}/user.ts: eslint(no-restricted-imports)`]);
  });

  it("refuse an import from above by a relative path", async () => {
    expect(
      await lint({ "src/commerce/thing.ts": value, "src/foundation/user.ts": use("../commerce/thing.ts") }),
    ).toEqual(["src/foundation/user.ts: eslint(no-restricted-imports)"]);
  });

  it("refuse that the browser part of a page imports the server part, or another page", async () => {
    for (const from of ["#pages/docs/markdown.ts", "#pages/console/browser/app.ts"])
      expect(
        await lint({ [from.replace("#", "src/")]: value, "src/pages/docs/browser/user.ts": use(from) }),
      ).toEqual(["src/pages/docs/browser/user.ts: eslint(no-restricted-imports)"]);
  });

  it("refuse an import cycle, also of types", async () => {
    const circle = (own: string, other: string): string =>
      `/** Half. */\nimport type { ${other} } from "./${other.toLowerCase()}.ts";\n\n` +
      `export interface ${own} {\n  readonly other: ${other} | null;\n}\n`;
    const found = await lint({
      "src/foundation/a.ts": circle("A", "B"),
      "src/foundation/b.ts": circle("B", "A"),
    });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((fault) => fault.endsWith("import(no-cycle)"))).toBe(true);
  });

  it("are all in the rules", () => {
    const config = readFileSync(join(root, "oxlint.config.ts"), "utf8");
    const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    for (const { name } of folders) expect(config).toMatch(new RegExp(`\\n  ${name}: \\[`));
    const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      imports: Record<string, string>;
    };
    for (const { name } of folders) expect(imports[`#${name}/*`]).toBe(`./src/${name}/*`);
  });
});

describe("type assertions", () => {
  it("that the compiler cannot check are exactly in the files listed in oxlint.config.ts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "assertions-"));
    try {
      const config = join(folder, "oxlint.json");
      writeFileSync(
        config,
        JSON.stringify({
          plugins: ["typescript"],
          rules: { "typescript/no-unsafe-type-assertion": "error" },
        }),
      );
      const binary = join(root, "node_modules/oxlint/bin/oxlint");
      const words = [
        binary,
        "--type-aware",
        "--format=json",
        "-c",
        config,
        "-A",
        "all",
        "-D",
        "typescript/no-unsafe-type-assertion",
        "src",
      ];
      const { stdout } = await promisify(execFile)(process.execPath, words, {
        cwd: root,
        maxBuffer: 64 * 1024 * 1024,
      }).catch((error: unknown) => error as { stdout: string });
      const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string }[] };
      expect([...new Set(diagnostics.map(({ filename }) => filename))].toSorted()).toEqual(
        filesWithUnsafeAssertions.toSorted(),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("files", () => {
  it("are in the folder of a layer, except main.ts", () => {
    expect(
      readdirSync(join(root, "src"), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
    ).toEqual(["main.ts"]);
  });

  const sources = filesUnder("src", ".ts").filter((name) => name !== "database/tables.ts");

  it("have at most 366 lines with their comments; oxlint counts at most 300 without", () => {
    const long = sources.filter(
      (name) => readFileSync(join(root, "src", name), "utf8").split("\n").length > 366,
    );
    expect(long).toEqual([]);
  });

  it("start with a comment that states their purpose", () => {
    expect(
      sources.filter((name) => !readFileSync(join(root, "src", name), "utf8").startsWith("/**")),
    ).toEqual([]);
  });

  it("have names in kebab case", () => {
    expect(
      sources.map((name) => basename(name)).filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(name)),
    ).toEqual([]);
  });
});

describe("operations", () => {
  const documents = filesUnder("schema/operations", ".graphql").map((name) => basename(name, ".graphql"));
  // OAuth is a single word.
  const kebab = (name: string): string =>
    name.replace("OAuth", "Oauth").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

  it("each have a document with their name and an entry in the OpenAPI document, and no others", async () => {
    await using world = await createWorld();
    const { operations } = await readContract(world);
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(documents.toSorted());
  });

  it("each have a test file", () => {
    const tests = filesUnder("test/operations", ".test.ts").map((name) => basename(name, ".test.ts"));
    expect(tests.toSorted()).toEqual(documents.map(kebab).toSorted());
  });
});

/**
 * The complete titles of a file's tests: those of the groups around a test, then the test's title. A group
 * contains everything that is indented further.
 */
function titlesOf(text: string): { readonly whole: string; readonly own: string }[] {
  const groups: { readonly indent: number; readonly title: string }[] = [];
  return [...text.matchAll(/^( *)(describe|describeOnBoth|it|test)\b/gm)].flatMap(
    ({ 1: spaces = "", 2: call = "", index }) => {
      const rest = text.slice(index + spaces.length);
      // `it.each([…])("title", …)` has its title in the second pair of brackets.
      const start = rest.startsWith(`${call}(`) ? /^\w+\(\s*(["`])([^]*?)\1/ : /\)\(\s*(["`])([^]*?)\1,/;
      const title = start.exec(rest)?.[2];
      while ((groups.at(-1)?.indent ?? -1) >= spaces.length) groups.pop();
      if (title === undefined) return [];
      if (!call.startsWith("describe"))
        return [{ whole: [...groups.map((group) => group.title), title].join(" "), own: title }];
      groups.push({ indent: spaces.length, title });
      return [];
    },
  );
}

describe("tests", () => {
  it("have descriptive titles: three words or more, and none begins with works, should or it", () => {
    const isBad = ({ whole, own }: { readonly whole: string; readonly own: string }): boolean =>
      whole.split(/\s+/).length < 3 || /^(works|should|it)\b/i.test(own);
    expect(
      titlesOf(
        'describe("a", () => {\n  it("b");\n});\nit("works at once");\nit("a cart has lines");\n',
      ).filter(isBad),
    ).toHaveLength(2);
    const files = filesUnder("test", ".test.ts").map(
      (name) => [name, readFileSync(join(root, "test", name), "utf8")] as const,
    );
    const titles = files.flatMap(([name, text]) =>
      titlesOf(text).map(({ whole, own }) => ({ name, whole, own })),
    );
    expect(titles.length).toBeGreaterThan(2_000);
    expect(titles.filter(isBad).map(({ name, whole }) => `${name}: ${whole}`)).toEqual([]);
  });

  it("are neither skipped nor exclusive", () => {
    const marked = filesUnder("test", ".test.ts").filter((name) =>
      /\b(it|test|describe)\.(only|skip|todo)\b/.test(readFileSync(join(root, "test", name), "utf8")),
    );
    expect(marked).toEqual([]);
  });
});
