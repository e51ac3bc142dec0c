/** No document leads nowhere: every relative link has its file, and every anchor its heading. */
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
/** As GitHub makes it of a heading. */
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

/** What a document's links do not find. */
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

describe("documents", () => {
  it.each(documents)("%s leads to what is there", (path) => {
    expect(deadLinks(path, readFileSync(join(root, path), "utf8"))).toEqual([]);
  });

  it("are read for what they lead to", () => {
    const text =
      "# One `two` (three)\n[a](#one-two-three) [b](#four) [c](README.md#settings) [d](README.md#no) [e](none.md) [f](https://x.example/y)\n";
    expect(deadLinks("CONTRIBUTING.md", text)).toEqual(["#four", "README.md#no", "none.md"]);
  });

  it("are all led to from somewhere", () => {
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
