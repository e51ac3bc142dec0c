/**
 * The shipped Compose file: every container is restricted, no default secret exists, and every setting is
 * known to the service.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { parseServiceSettings, settingNames } from "#app/settings.ts";
import { isInstalled } from "#test/support/program.ts";

const root = new URL("../../", import.meta.url).pathname;
const text = readFileSync(join(root, "compose.yaml"), "utf8");

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly user: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly cpus: number;
  readonly mem_limit: string;
  readonly volumes?: readonly string[];
  readonly networks: readonly string[] | Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly extra_hosts?: readonly string[];
  readonly restart: string;
  readonly stop_grace_period?: string;
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

const { services, networks } = parse(text, { merge: true }) as Composition;
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image.startsWith("commerce-gateway:"));
const networksOf = ({ networks: joined }: Service): string[] =>
  Array.isArray(joined) ? [...joined] : Object.keys(joined);

/** The settings that an operator fills in. */
const filled: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: "a".repeat(48),
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  PUBLIC_URL: "https://api.shop.example",
  METRICS_TOKEN: "b".repeat(48),
};

/** Settings that the image sets itself, or that another setting replaces. */
const notInContainers = new Set(["DATA_DIR"]);

/** Interpolates `${NAME}`, `${NAME:-default}` and `${NAME:?what to do}` as Compose does. */
const interpolated = (value: string, given: Readonly<Record<string, string>>): string =>
  value.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_whole, name: string, kind: string | undefined, other: string | undefined) => {
      const known = given[name] ?? "";
      if (known !== "") return known;
      if (kind === "-") return other ?? "";
      throw new Error(`${name} is missing.`);
    },
  );

describe("the Compose file", () => {
  it("has two gateways, a worker and a migration of one image, nginx, a database and a rate limiter", () => {
    expect(ours.map(([name, { command }]) => [name, command])).toEqual([
      ["gateway-1", ["gateway"]],
      ["gateway-2", ["gateway"]],
      ["worker", ["worker"]],
      ["migrate", ["migrate"]],
    ]);
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(new Set(ours.map(([, { image }]) => interpolated(image, {})))).toEqual(
      new Set([`commerce-gateway:${version}`]),
    );
    // Only one service builds the image; several would write the same image at the same time.
    expect(all.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(["migrate"]);
    expect(all.map(([name]) => name).filter((name) => !ours.some(([own]) => own === name))).toEqual([
      "nginx",
      "database",
      "limits",
    ]);
  });

  it.each(all)(
    "restricts %s: unprivileged user, read-only file system, no capabilities, resource limits, a pinned " +
      "image",
    (_name, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        init: true,
        pids_limit: 256,
      });
      expect(service).not.toHaveProperty("privileged");
      expect(service).not.toHaveProperty("cap_add");
      expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(interpolated(service.image, {})).toMatch(/^[a-z/-]+:\d+\.\d+(\.\d+)?$/);
      expect([service.cpus > 0, service.mem_limit]).toEqual([true, expect.stringMatching(/^\d+[mg]$/)]);
      // Compose refuses a service with limits in both places.
      expect(service).not.toHaveProperty("deploy");
    },
  );

  it.each(all)("checks the health of %s, restarts it, and gives it time to stop", (name, service) => {
    if (name === "migrate") {
      expect(service).toMatchObject({ restart: "no", healthcheck: { disable: true } });
      return;
    }
    expect(service.restart).toBe("unless-stopped");
    // The service's image has a health check already.
    if (ours.some(([own]) => own === name)) expect(service.healthcheck).toBeUndefined();
    else expect(service.healthcheck?.test?.[0]).toBe("CMD");
    expect(Number.parseInt(service.stop_grace_period ?? "", 10)).toBeGreaterThan(10);
  });

  it("starts in order: database, schema, service, nginx", () => {
    for (const [name, { depends_on: needs = {} }] of all)
      for (const need of Object.keys(needs)) expect(services, `${name} needs ${need}`).toHaveProperty(need);
    for (const [, { depends_on: needs, command }] of ours) {
      expect(needs?.["database"]).toEqual({ condition: "service_healthy" });
      if (command?.[0] !== "migrate")
        expect(needs?.["migrate"]).toEqual({ condition: "service_completed_successfully" });
    }
    expect(Object.keys(services["nginx"]?.depends_on ?? {})).toEqual(["gateway-1", "gateway-2"]);
  });

  it("publishes only nginx's port, and separates the database from outside networks", () => {
    expect(all.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(["nginx"]);
    expect(networks["inside"]?.internal).toBe(true);
    for (const name of ["database", "limits"])
      expect(networksOf(services[name] as Service)).toEqual(["inside"]);
    expect(networksOf(services["nginx"] as Service)).toEqual(["front"]);
    // Receivers of webhooks and DNS servers are outside.
    for (const name of ["gateway-1", "gateway-2", "worker"])
      expect(
        networksOf(services[name] as Service).some((network) => networks[network]?.internal !== true),
      ).toBe(true);
  });

  it("names each gateway as nginx expects", () => {
    const addresses = ["gateway-1", "gateway-2"].map((name) => {
      const joined = services[name]?.networks as Record<string, { ipv4_address?: string }> | undefined;
      return `${name}:${joined?.["front"]?.ipv4_address}`;
    });
    expect(services["nginx"]?.extra_hosts).toEqual(addresses);
    const upstreams = [
      ...readFileSync(join(root, "deploy/nginx/nginx.conf"), "utf8").matchAll(
        /^ +server (gateway-\d):4000 /gm,
      ),
    ].map(([, name]) => name);
    expect(upstreams).toEqual(["gateway-1", "gateway-2"]);
    // Mounts the folder, because a mounted file keeps its old content when it is replaced.
    expect(services["nginx"]?.volumes).toEqual(["./deploy/nginx:/etc/nginx/shop:ro"]);
  });
});

describe("the Compose settings", () => {
  const example = readFileSync(join(root, "deploy/example.env"), "utf8");
  const named = [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(
    ([, name = "", value = ""]) => [name, value] as const,
  );
  const asked = (kind: string): string[] => [
    ...new Set(
      [...text.matchAll(/\$\{(\w+):([-?])/g)].flatMap(([, name = "", is]) => (is === kind ? [name] : [])),
    ),
  ];

  it("are known to and accepted by every process", () => {
    for (const [name, { environment = {} }] of ours) {
      expect(settingNames, name).toEqual(expect.arrayContaining(Object.keys(environment)));
      const settings = parseServiceSettings(
        Object.fromEntries(
          Object.entries(environment).map(([key, value]) => [key, interpolated(value, filled)]),
        ),
      );
      expect(settings).toMatchObject({
        trustProxy: 1,
        publicUrl: "https://api.shop.example",
        redisUrl: "redis://limits:6379",
        demo: false,
      });
    }
  });

  it("are all in the example: required ones empty, and optional ones", () => {
    expect(named.map(([name]) => name).toSorted()).toEqual([...asked("?"), ...asked("-")].toSorted());
    expect(named.filter(([, value]) => value === "").map(([name]) => name)).toEqual(
      expect.arrayContaining(asked("?")),
    );
    expect(asked("?").toSorted()).toEqual(Object.keys(filled).toSorted());
  });

  it("include all settings that the runbook tells operators to change", () => {
    const runbook = readFileSync(join(root, "docs/runbook.md"), "utf8");
    const documented = settingNames.filter((name) => runbook.includes(name));
    expect(documented).toEqual(
      expect.arrayContaining(["PROCESSES", "DATABASE_DIRECT_URL", "DATABASE_READ_URL"]),
    );
    for (const [name, { environment = {} }] of ours)
      expect(Object.keys(environment), name).toEqual(
        expect.arrayContaining(documented.filter((setting) => !notInContainers.has(setting))),
      );
  });

  it.each(Object.keys(filled))("are refused if missing: %s", (name) => {
    const left = { ...filled, [name]: "" };
    expect(() => interpolated(text, left)).toThrow(`${name} is missing.`);
    expect(() => interpolated(text, filled)).not.toThrow();
  });
});

const hasCompose = isInstalled("docker-compose", "version");
if (!hasCompose)
  process.stderr.write(
    "test/deploy/compose.test.ts runs without docker-compose, which is not installed (Debian: " +
      "docker-compose).\n",
  );

describe.runIf(hasCompose)("docker-compose", () => {
  /** Ignores a local .env file. */
  const check = (given: Readonly<Record<string, string>>): { status: number | null; stderr: string } => {
    const folder = mkdtempSync(join(tmpdir(), "compose-"));
    try {
      const file = join(folder, "filled.env");
      writeFileSync(
        file,
        Object.entries(given)
          .map((pair) => pair.join("="))
          .join("\n"),
      );
      const env = { PATH: process.env["PATH"], HOME: folder };
      return spawnSync(
        "docker-compose",
        ["--file", join(root, "compose.yaml"), "--env-file", file, "config", "--quiet"],
        {
          env,
          cwd: folder,
          encoding: "utf8",
        },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it("are understood by docker-compose, which asks for missing ones", () => {
    expect(check(filled)).toMatchObject({ status: 0, stderr: "" });
    const { ENCRYPTION_KEYS: _keys, ...others } = filled;
    expect(check(others)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("see deploy/example.env"),
    });
  });
});
