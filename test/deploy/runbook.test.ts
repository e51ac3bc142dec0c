/**
 * The runbook matches the project: every alert has a section, its SQL is valid, and its commands and options
 * exist.
 */
import { existsSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createCommandLineProgram } from "#cli/run.ts";
import { openFresh } from "#test/support/databases.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const runbook = read("docs/runbook.md");
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
const anchors = anchorsOf(runbook);

describe("the runbook", () => {
  it("has a section for every alert", () => {
    const named = [
      ...read("deploy/prometheus/alerts.yml").matchAll(/runbook: docs\/runbook\.md#([\w-]+)/g),
    ].map(([, anchor]) => anchor);
    expect(named.length).toBeGreaterThan(0);
    expect(anchors).toEqual(expect.arrayContaining(named));
  });

  it("has no broken link", () => {
    for (const [, path = "", anchor] of runbook.matchAll(/\]\(([\w./-]*)(?:#([\w-]+))?\)/g)) {
      expect(existsSync(new URL(`docs/${path}`, root)), path).toBe(true);
      if (anchor !== undefined)
        expect(path === "" ? anchors : anchorsOf(read(`docs/${path}`))).toContain(anchor);
    }
  });

  it("contains valid SQL", async () => {
    const statements = [...runbook.matchAll(/```sql\n([\s\S]+?)```/g)].flatMap(([, text = ""]) =>
      text.split(";").slice(0, -1),
    );
    expect(statements.length).toBeGreaterThan(3);
    await using stack = new AsyncDisposableStack();
    const database = await openFresh("postgres");
    stack.defer(() => database.close());
    for (const statement of statements)
      expect(await database.script((run) => run(statement))).toHaveLength(1);
  });

  it("names existing commands and options", async () => {
    const program = await createCommandLineProgram(undefined);
    const lines = [...runbook.matchAll(/`npm run commerce -- ([a-z][^`]*)`/g)].map(([, line = ""]) =>
      line.split(" "),
    );
    expect(lines.length).toBeGreaterThan(8);
    for (const words of lines) {
      const command = commandOf(program, words);
      const known = [...command.options.map(({ long }) => long), "--help"];
      expect(command.commands, words.join(" ")).toEqual([]);
      for (const word of words.filter((part) => part.startsWith("--")))
        expect(known, words.join(" ")).toContain(word);
    }
  });

  it("names existing metrics", () => {
    const metrics = read("docs/metrics.md");
    for (const [name] of runbook.matchAll(/\bcommerce_\w+/g))
      expect(metrics).toContain(`\`${name.replace(/_bucket$/, "")}\``);
  });
});

/** Finds the command or subcommand that the words name. */
function commandOf(program: Command, [first = "", ...others]: readonly string[]): Command {
  const next = program.commands.find((command) => command.name() === first);
  return next === undefined ? program : commandOf(next, others);
}
