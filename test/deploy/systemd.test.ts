/**
 * The shipped systemd units: systemd accepts them, they start the processes with the options of `npm start`,
 * and a process has the time that it needs to end.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settingNames } from "#app/settings.ts";
import { isInstalled } from "#test/support/program.ts";

const root = new URL("../../", import.meta.url).pathname;
const folder = join(root, "deploy/systemd");
const installed = "/opt/commerce-gateway/";
const units = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
const serving = units.find(({ name }) => name === "commerce-gateway@.service")?.text ?? "";
const hasSystemd = isInstalled("systemd-analyze", "--version");

if (!hasSystemd)
  process.stderr.write("test/deploy/systemd.test.ts is skipped in part: systemd is not installed.\n");

/** Returns the values of a directive, for example `Environment`, in a unit. */
const valuesOf = (text: string, directive: string): string[] =>
  [...text.matchAll(new RegExp(`^${directive}=(.*)$`, "gm"))].map(([, value = ""]) => value);

describe("the systemd units", () => {
  it.runIf(hasSystemd)("are accepted by systemd, with the service installed in this folder", () => {
    const copies = mkdtempSync(join(tmpdir(), "commerce-gateway-systemd-"));
    try {
      for (const { name, text } of units)
        writeFileSync(
          join(copies, name.replace("@.", "@gateway.")),
          text.replaceAll(installed.slice(0, -1), root),
        );
      const files = readdirSync(copies).map((name) => join(copies, name));
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
      expect(stderr).toBe("");
      expect(status).toBe(0);
    } finally {
      rmSync(copies, { recursive: true, force: true });
    }
  });

  it("start the processes with the Node options and the allocator setting of npm start", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly scripts: { readonly start: string };
    };
    const [, options] = /exec node (.*) src\/main\.ts/.exec(scripts.start) ?? [];
    expect(options).toMatch(/^--/);
    expect(valuesOf(serving, "ExecStart")).toEqual([
      `${installed}node_modules/.bin/node ${options} src/main.ts %i`,
    ]);
    const allocation = Array.from(
      scripts.start.matchAll(/(MALLOC_\w+):-(\d+)/g),
      ([, name, value]) => `${name}=${value}`,
    );
    expect(allocation).toHaveLength(3);
    expect(valuesOf(serving, "Environment")).toEqual([`${allocation.join(" ")} MIGRATE=0`]);
    expect(settingNames).toContain("MIGRATE");
  });

  it("leave a process the default of DRAIN_SECONDS and 10 seconds more to end after SIGTERM", () => {
    expect(valuesOf(serving, "KillSignal")).toEqual(["SIGTERM"]);
    expect(Number(valuesOf(serving, "TimeoutStopSec")[0])).toBeGreaterThan(5 + 10);
  });

  it("run as a user without rights and read all settings from one file that only root can read", () => {
    for (const { text } of units) {
      expect(valuesOf(text, "DynamicUser")).toEqual(["yes"]);
      expect(valuesOf(text, "CapabilityBoundingSet")).toEqual([""]);
      expect(valuesOf(text, "EnvironmentFile")).toEqual(["/etc/commerce-gateway.env"]);
    }
  });
});
