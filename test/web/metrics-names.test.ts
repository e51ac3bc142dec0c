/**
 * docs/metrics.md, the alerts and the dashboard name existing metrics. The documentation names all metrics,
 * and the alerts fire as described.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { useWorld } from "#test/support/use-world.ts";
import { readScrape, type Scrape } from "./scrape.ts";

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const alerts = parse(fileOf("deploy/prometheus/alerts.yml")) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}
const dashboard = JSON.parse(fileOf("deploy/grafana/dashboard.json")) as {
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
};

const world = useWorld();
let given: Scrape;
beforeAll(async () => {
  given = readScrape((await world().get("/metrics")).text);
});

describe("docs/metrics.md", () => {
  const documented = [
    ...fileOf("docs/metrics.md").matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) +\| .*\|$/gm),
  ].map(([, name = "", type = "", labels = ""]) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label),
  }));

  it("names every metric with its type, and no other", () => {
    const isGiven = [...given.types].map(([name, type]) => `${name} ${type}`);
    expect(documented.map(({ name, type }) => `${name} ${type}`).toSorted()).toEqual(isGiven.toSorted());
  });

  it("names the labels of each metric", () => {
    for (const { name, labels } of documented) {
      const found = [...(given.labels.get(name) ?? [])];
      expect(labels, name).toEqual(expect.arrayContaining(found));
      if (found.length > 0) expect(found.toSorted(), name).toEqual(labels.toSorted());
    }
  });

  it("follows Prometheus' naming conventions", () => {
    const ours = [...given.types].filter(([name]) => name.startsWith("commerce_"));
    expect(ours.filter(([name, type]) => name.endsWith("_total") !== (type === "counter"))).toEqual([]);
  });
});

/** Returns the metrics that an expression names. `up` is made by Prometheus itself. */
function namesIn(expression: string): string[] {
  const known = [...expression.matchAll(/\b(?:commerce|process|nodejs)_\w+/g)].map(([name]) => name);
  return known.map((name) => (given.types.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, "")));
}

describe("the alerts", () => {
  it("use existing metrics", () => {
    const named = rules.flatMap(({ expr }) => namesIn(expr));
    expect(named.length).toBeGreaterThan(rules.length - 2);
    for (const name of named) expect(given.types.has(name), name).toBe(true);
  });

  it("describe the problem, and have a section in the runbook", () => {
    const runbook = new URL("../../docs/runbook.md", import.meta.url);
    const headings = existsSync(runbook) ? readFileSync(runbook, "utf8") : "";
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.summary, alert).toMatch(/^\S.*\.$/);
      expect(["page", "ticket"], alert).toContain(labels.severity);
      const [, anchor = ""] = /^docs\/runbook\.md#([a-z-]+)$/.exec(annotations.runbook) ?? [];
      const isThere = new RegExp(`^#+ ${anchor.replaceAll("-", "[ -]")}$|id="${anchor}"`, "im").test(
        headings,
      );
      expect(isThere, `${alert}: ${anchor}`).toBe(true);
    }
  });

  it("fire for their problem, and not in other situations", () => {
    const folder = new URL("../../deploy/prometheus/", import.meta.url);
    const tested = spawnSync("promtool", ["test", "rules", "alerts.test.yml"], {
      cwd: folder,
      encoding: "utf8",
    });
    const isMissing = tested.error !== undefined && "code" in tested.error && tested.error.code === "ENOENT";
    if (isMissing)
      process.stderr.write("promtool is not installed: the alerts of deploy/prometheus were not tried.\n");
    else expect({ status: tested.status, said: tested.stdout + tested.stderr }).toMatchObject({ status: 0 });
    const tests = (
      parse(fileOf("deploy/prometheus/alerts.test.yml")) as {
        readonly tests: readonly { readonly name: string }[];
      }
    ).tests;
    const wanted = rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} is quiet`]);
    expect(tests.map(({ name }) => name).toSorted()).toEqual(wanted.toSorted());
  });
});

describe("the metrics of a process", () => {
  it("are accepted by promtool", () => {
    const checked = spawnSync("promtool", ["check", "metrics"], { input: given.text, encoding: "utf8" });
    if (checked.error !== undefined) return;
    // promtool's known complaints concern names that prom-client chooses for Node's metrics.
    expect(checked.stderr.split("\n").filter((line) => line.startsWith("commerce_"))).toEqual([]);
    expect(checked.stderr).not.toContain("error while linting");
  });
});

describe("the dashboard", () => {
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  const asked = panels.flatMap(({ targets = [] }) => targets);

  it("queries only existing metrics, and all of the service's metrics", () => {
    const named = new Set(asked.flatMap(({ expr }) => namesIn(expr)));
    for (const name of named) expect(given.types.has(name), name).toBe(true);
    expect(
      [...given.types.keys()].filter((name) => name.startsWith("commerce_") && !named.has(name)),
    ).toEqual([]);
  });

  it("queries the selected Prometheus data source", () => {
    for (const { datasource } of [...panels, ...asked]) expect(datasource?.uid).toBe("${datasource}");
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
  });

  it("has no overlapping panels", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});
