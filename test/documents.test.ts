/**
 * Documents match the project: every relative link has its file, every anchor its heading, every path that a
 * document mentions exists, and every name in code type occurs in the code or in the contracts.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const folders = ["bench", "clients", "deploy", "docs", "schema", "soak", "src", "test"];
const documents = globSync(["*.md", ...folders.map((folder) => `${folder}/**/*.md`)], {
  cwd: root,
  exclude: (path) => path.split("/").includes("node_modules"),
}).toSorted();

const withoutCode = (markdown: string): string => markdown.replaceAll(/^```[^]*?^```/gm, "");
/** Returns the anchor that GitHub makes of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

function anchorsOf(markdown: string): ReadonlySet<string> {
  const text = withoutCode(markdown);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
  return new Set([...headings, ...[...text.matchAll(/\bid="([^"]+)"/g)].map(([, id = ""]) => id)]);
}

/** The links of a document whose file or heading does not exist. */
function deadLinks(path: string, markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    if (/^(https?|mailto):/.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : join(dirname(path), file);
    if (!existsSync(join(root, target))) return [link];
    if (anchor === undefined || !target.endsWith(".md")) return [];
    return anchorsOf(target === path ? markdown : readFileSync(join(root, target), "utf8")).has(anchor)
      ? []
      : [link];
  });
}

const projectFolders = "src|test|schema|docs|bench|soak|deploy|clients|patches";
/** A path of this project, with its folder: a file, a folder, or a pattern with `*`. */
const pathPattern = new RegExp(String.raw`(?<![\w./@-])(?:${projectFolders})/[\w./*-]*[\w/*]`, "g");

/** The paths in a document, in code type, in prose and in diagrams, that do not exist. */
function missingPaths(markdown: string, folder = "."): string[] {
  // A command's own output and placeholders such as NNNN-what.sql or schema/operations/<area> name no file.
  const paths = [...markdown.matchAll(pathPattern)]
    .map(([path]) => path)
    .filter((path) => !/NNNN|…/.test(path));
  return [...new Set(paths)].filter((path) =>
    [root, join(root, folder)].every((cwd) => globSync(path, { cwd }).length === 0),
  );
}

/** Names in code type: `changeCart`, `CartView`, `payment_operation`, `outbox.append`, `requireOpen()`. */
function namesOf(markdown: string): string[] {
  const spans = [...withoutCode(markdown).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return spans
    .filter((span) => /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*(?:\(\))?$/.test(span))
    .flatMap((span) => span.replace("()", "").split("."))
    .filter((name) => /[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|[a-z]_[a-z]/.test(name));
}

/** All words of the code, the contracts and the configuration. */
const knownNames = new Set(
  globSync(
    [
      "{src,test,soak,bench,schema,deploy,clients/typescript}/**/*.{ts,tsx,mjs,graphql,sql,json,yaml,yml,conf}",
      "*.{ts,json,yaml,yml}",
      "Dockerfile",
    ],
    {
      cwd: root,
      exclude: (path) => path.includes("node_modules") || path.endsWith("documents.test.ts"),
    },
  ).flatMap((path) => readFileSync(join(root, path), "utf8").match(/[A-Za-z_$][\w$]*/g) ?? []),
);

/** Names of PostgreSQL, Prometheus and GraphQL Mesh, which this project does not contain. */
const foreignNames = new Set(
  "pg_dump pg_basebackup pg_upgrade archive_mode lock_timeout toast_tuple_target dns_sd_configs filterSchema "
    .concat("pg_stat_statements isolate_tenant_to_new_shard enable_unsafe_triggers")
    .split(" "),
);
/** Metrics of prom-client; test/web/metrics-names.test.ts compares them with `/metrics`. */
const isDefaultMetric = (name: string): boolean => /^(?:process|nodejs)_/.test(name);
const isUnknown = (name: string): boolean =>
  !knownNames.has(name) && !foreignNames.has(name) && !isDefaultMetric(name);

/** Recipes in CONTRIBUTING.md and docs/mesh.md show files that a reader creates. */
const filesToCreate = new Set([
  "schema/operations/orders/getStorefrontOrderTimeline.graphql",
  "test/operations/get-storefront-order-timeline.test.ts",
]);

describe("documents", () => {
  it.each(documents)("%s mentions only paths that exist", (path) => {
    const missing = missingPaths(readFileSync(join(root, path), "utf8"), dirname(path));
    expect(missing.filter((name) => !filesToCreate.has(name))).toEqual([]);
  });

  it.each(documents)("%s mentions only names that the code or the contracts have", (path) => {
    const names = namesOf(readFileSync(join(root, path), "utf8"));
    expect([...new Set(names)].filter(isUnknown)).toEqual([]);
  });

  it("are checked for paths and names that do not exist", () => {
    const text =
      "`src/main.ts` and src/gone.ts, `changeCart`, `goneName`, `cart.goneField` and `gone_column`\n";
    expect(missingPaths(text)).toEqual(["src/gone.ts"]);
    expect(namesOf(text).filter(isUnknown)).toEqual(["goneName", "goneField", "gone_column"]);
  });

  it.each(documents)("%s links only to files and headings that exist", (path) => {
    expect(deadLinks(path, readFileSync(join(root, path), "utf8"))).toEqual([]);
  });

  it("are checked for links to missing files and headings", () => {
    const text =
      "# One `two` (three)\n[a](#one-two-three) [b](#four) [c](README.md#layers) " +
      "[d](README.md#no) [e](none.md) [f](https://x.example/y)\n";
    expect(deadLinks("CONTRIBUTING.md", text)).toEqual(["#four", "README.md#no", "none.md"]);
  });

  it("are all linked from another document", () => {
    const led = documents.flatMap((path) =>
      [...withoutCode(readFileSync(join(root, path), "utf8")).matchAll(/\]\(([^)\s#]+)/g)].map(
        ([, link = ""]) => join(dirname(path), link),
      ),
    );
    expect(
      documents.filter((path) => !led.some((target) => path === target || path.startsWith(`${target}/`))),
    ).toEqual([]);
  });
});
