/**
 * The shipped Compose file: every container is restricted, no default secret exists, and every setting is
 * known to the service.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { formatMaskedSettings, parseServiceSettings, settingNames } from "#app/settings.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { isInstalled } from "#test/support/program.ts";

const root = new URL("../../", import.meta.url).pathname;
const text = readFileSync(join(root, "compose.yaml"), "utf8");

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly user: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
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
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const { services, networks, secrets } = parse(text, { merge: true }) as Composition;
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image.startsWith("commerce-gateway:"));
const networksOf = ({ networks: joined }: Service): string[] =>
  Array.isArray(joined) ? [...joined] : Object.keys(joined);

/** The settings that an operator fills in. */
const filled: Readonly<Record<string, string>> = { PUBLIC_URL: "https://api.shop.example" };

/** Creates the files with the secrets, as an operator does. Existing files stay as they are. */
const createSecrets = (folder: string, given: Readonly<Record<string, string>> = {}): string => {
  const secretsFolder = join(folder, "secrets");
  const script = join(root, "deploy/create-secrets.sh");
  const run = spawnSync("sh", [script, secretsFolder], {
    env: { PATH: process.env["PATH"], ...given },
    encoding: "utf8",
  });
  expect(run).toMatchObject({ status: 0, stderr: "" });
  return secretsFolder;
};

/** The environment of a service in which the paths of mounted secrets are those of a folder on this machine. */
const environmentWith = (
  { environment = {} }: Service,
  secretsFolder: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      interpolated(value, filled).replace(/^\/run\/secrets/, secretsFolder),
    ]),
  );

/** Settings of which the command `config` masks each secret. */
const masked: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@host/name",
  DATABASE_DIRECT_URL: "postgres://user:password@host/name",
  DATABASE_OWNER_URL: "postgres://user:password@host/name",
  DATABASE_READ_URL: "postgres://user:password@host/name",
  REDIS_URL: "redis://:password@host",
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  METRICS_TOKEN: "b".repeat(48),
  OTEL_EXPORTER_OTLP_ENDPOINT: "https://user:password@collector",
};

/** Settings that the image sets itself, or that another setting replaces. */
const notInContainers = new Set(["DATA_DIR"]);

const withoutFile = (name: string): string => name.replace(/_FILE$/, "");

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
    const secretsFolder = createSecrets(temporaryFolder());
    const password = readFileSync(join(secretsFolder, "postgres_password"), "utf8").trim();
    for (const [name, service] of ours) {
      const environment = environmentWith(service, secretsFolder);
      expect(settingNames, name).toEqual(
        expect.arrayContaining(Object.keys(environment).map((key) => withoutFile(key))),
      );
      expect(parseServiceSettings(environment)).toMatchObject({
        trustProxy: 1,
        publicUrl: "https://api.shop.example",
        redisUrl: "redis://limits:6379",
        databaseUrl: `postgres://commerce:${password}@database:5432/commerce`,
        databaseDirectUrl: undefined,
        databaseReadUrl: undefined,
        encryptionKeys: [{ id: "k1" }],
        metricsToken: expect.stringMatching(/^[\da-f]{48}$/),
        tracesEndpoint: undefined,
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
      expect(
        Object.keys(environment).map((key) => withoutFile(key)),
        name,
      ).toEqual(expect.arrayContaining(documented.filter((setting) => !notInContainers.has(setting))));
  });

  it("contain no secret: secrets are files that only the services that need them get", () => {
    const secretsFolder = createSecrets(temporaryFolder());
    expect(readdirSync(secretsFolder).toSorted()).toEqual(Object.keys(secrets).toSorted());
    for (const [name, { file }] of Object.entries(secrets)) {
      expect(interpolated(file, {})).toBe(`./secrets/${name}`);
      expect(interpolated(file, { SECRETS: "/safe" })).toBe(`/safe/${name}`);
    }
    const mayHaveSecret = settingNames.filter((name) => formatMaskedSettings(masked)[name] === "********");
    expect(mayHaveSecret).toEqual(expect.arrayContaining(["DATABASE_URL", "ENCRYPTION_KEYS"]));
    for (const [name, { environment = {}, secrets: mounted = [] }] of all) {
      const paths = Object.values(environment).filter((value) => value.startsWith("/run/secrets/"));
      expect(paths.toSorted(), name).toEqual(mounted.map((secret) => `/run/secrets/${secret}`).toSorted());
      for (const [variable, value] of Object.entries(environment)) {
        // The address of Valkey on the inner network, without a password.
        if (value === "redis://limits:6379") continue;
        expect(mayHaveSecret, `${name}: ${variable}`).not.toContain(variable);
        expect(variable, name).not.toMatch(/PASSWORD$|TOKEN$|KEYS?$|SECRET$/);
      }
    }
    expect(services["database"]?.secrets).toEqual(["postgres_password"]);
    for (const name of ["nginx", "limits"]) expect(services[name]?.secrets, name).toBeUndefined();
  });

  it("come from files that others cannot reach, and that a second run of the script keeps", () => {
    const folder = temporaryFolder();
    const secretsFolder = createSecrets(folder, {
      POSTGRES_PASSWORD: "old",
      DATABASE_NAME: "restored",
      ENCRYPTION_KEYS: "k7:x",
    });
    const read = (name: string): string => readFileSync(join(secretsFolder, name), "utf8");
    expect(read("database_url")).toBe("postgres://commerce:old@database:5432/restored\n");
    expect(read("encryption_keys")).toBe("k7:x\n");
    const before = Object.keys(secrets).map((name) => read(name));
    expect(createSecrets(folder, { POSTGRES_PASSWORD: "new" })).toBe(secretsFolder);
    expect(Object.keys(secrets).map((name) => read(name))).toEqual(before);
    expect(statSync(secretsFolder).mode & 0o777).toBe(0o700);
    expect(Object.keys(secrets).map((name) => statSync(join(secretsFolder, name)).mode & 0o777)).toEqual(
      Object.keys(secrets).map(() => 0o444),
    );
    expect(readFileSync(join(root, ".gitignore"), "utf8").split("\n")).toContain("/secrets*/");
  });

  it("lead to the restored database with the commands of the runbook", () => {
    const folder = temporaryFolder();
    createSecrets(folder, { DATABASE_READ_URL: "postgres://commerce:x@replica:5432/commerce" });
    const [, commands = ""] =
      /```sh\n( +cp -R secrets [\s\S]+?)```/.exec(readFileSync(join(root, "docs/runbook.md"), "utf8")) ?? [];
    expect(commands).toContain("SECRETS=./secrets-restored docker compose run");
    const docker =
      'docker() { [ "$SECRETS $*" = "./secrets-restored compose run --rm --no-deps worker keys check" ]; }\n';
    const run = spawnSync("bash", ["--norc", "-euc", docker + commands], { cwd: folder, encoding: "utf8" });
    expect(run).toMatchObject({ status: 0, stderr: "" });
    const environment = environmentWith(services["worker"] as Service, join(folder, "secrets-restored"));
    expect(parseServiceSettings(environment)).toMatchObject({
      databaseUrl: expect.stringMatching(/@database:5432\/restored$/),
      databaseReadUrl: "postgres://commerce:x@replica:5432/restored",
      databaseDirectUrl: undefined,
    });
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
    expect(check({})).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("see deploy/example.env"),
    });
  });
});
