/**
 * The image without Docker: the Dockerfile is valid, copies existing and sufficient files, and the result
 * starts as the named user, who can write only in DATA_DIR. `npm run test:image` runs the second half.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpSender } from "#soak/service.ts";
import {
  buildImage,
  commandOf,
  copiesOf,
  dockerfileText,
  findStep,
  readStages,
  root,
  type Step,
} from "./dockerfile.ts";

const [build = [], final = []] = readStages();
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  version: string;
  dependencies: Record<string, string>;
  scripts: { start: string };
};
const imageMegabytesMax = 200;
/** A cold start without compiled code on a busy machine. */
const startMsMax = 200_000;

describe("the Dockerfile", () => {
  it("has no lint error", () => {
    expect(validate(dockerfileText)).toEqual([]);
  });

  it("uses the runtime version of package.json", () => {
    const base = `node:${manifest.dependencies["node"]}-trixie-slim`;
    expect([build[0]?.text, final[0]?.text]).toEqual([`${base} AS build`, base]);
    expect(final).toContainEqual(
      expect.objectContaining({ keyword: "ARG", text: `VERSION=${manifest.version}` }) as Step,
    );
  });

  it("copies existing files, and .dockerignore excludes all others", () => {
    const sources = copiesOf([...build, ...final])
      .filter(({ from }) => from === "context")
      .flatMap((copy) => copy.sources);
    for (const source of sources) expect(existsSync(join(root, source)), source).toBe(true);
    const lines = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
    const [first, ...others] = lines.filter((line) => line !== "" && !line.startsWith("#"));
    expect(first).toBe("*");
    expect(others.toSorted()).toEqual(
      [...new Set(sources.map((source) => `!${source.replace(/\/$/, "")}`))].toSorted(),
    );
  });

  it("runs as a user who owns only the data, stops on SIGTERM, and starts without a shell", () => {
    const user = findStep(final, "USER")?.text ?? "";
    expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect(findStep(final, "RUN")?.text).toContain(`mkdir -m 700 /data && chown ${user} /data`);
    expect(findStep(final, "STOPSIGNAL")?.text).toBe("SIGTERM");
    // The command equals that of `npm start`.
    const [, command = ""] = / exec (.+)$/.exec(manifest.scripts.start) ?? [];
    expect(
      [...commandOf(findStep(final, "ENTRYPOINT")), ...commandOf(findStep(final, "CMD"))].join(" "),
    ).toBe(command);
    const allocation = [...manifest.scripts.start.matchAll(/(MALLOC_\w+):-(\d+)/g)];
    expect(allocation).toHaveLength(3);
    for (const [, name, value] of allocation)
      expect(findStep(final, "ENV")?.text).toContain(`${name}=${value}`);
    expect(commandOf(findStep(final, "CMD"))).toEqual(["serve"]);
  });
});

/** The user to run as, if the test runs as root; other users cannot switch. */
function userOf(stage: readonly Step[]): { readonly uid: number; readonly gid: number } | undefined {
  const [uid = 0, gid = 0] = (findStep(stage, "USER")?.text ?? "").split(":").map(Number);
  return process.getuid?.() === 0 ? { uid, gid } : undefined;
}

/** Takes half a minute, so a separate command runs it. */
describe.runIf(process.env["TEST_IMAGE"] === "1")("the built image", () => {
  let folder: string;
  beforeAll(() => {
    folder = buildImage();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(`is small: at most ${imageMegabytesMax} MB beside the runtime, without build tools`, () => {
    const [megabytes] = execFileSync("du", ["-sm", join(folder, "app")], { encoding: "utf8" }).split("\t");
    expect(Number(megabytes)).toBeLessThanOrEqual(imageMegabytesMax);
    const packages = join(folder, "app/node_modules");
    for (const name of ["node", "vite", "rolldown", "preact", "typescript", "vitest", "@graphql-mesh/cli"])
      expect(existsSync(join(packages, name)), name).toBe(false);
  });

  it(
    "starts, is healthy, serves the demo and its pages, stops in order, and writes only data",
    async () => {
      const dataDir = join(folder, "data");
      mkdirSync(dataDir, { mode: 0o700 });
      const user = userOf(final);
      if (user !== undefined) chownSync(dataDir, user.uid, user.gid);
      const port = await findFreePort();
      const given = Object.fromEntries(
        (findStep(final, "ENV")?.words ?? []).map((pair) => pair.split("=") as [string, string]),
      );
      const env = {
        ...given,
        PATH: folder,
        PORT: String(port),
        DATA_DIR: dataDir,
        TMPDIR: "/nonexistent",
        LOG_LEVEL: "warn",
      };
      const options = { ...user, env, cwd: join(folder, "app") };
      const [check = "", ...checked] = commandOf(findStep(final, "HEALTHCHECK"));
      const isHealthy = (): boolean =>
        spawnSync(join(folder, check), checked, { ...options, stdio: "ignore" }).status === 0;

      expect(given["HOST"]).toBe("0.0.0.0");
      expect(isHealthy()).toBe(false);
      const [program = "", ...args] = [
        ...commandOf(findStep(final, "ENTRYPOINT")),
        ...commandOf(findStep(final, "CMD")),
      ];
      const child = spawn(join(folder, program), args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
      const ended = once(child, "exit");
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
      try {
        const ask = createHttpSender(port);
        const status = (url: string): Promise<number | string> =>
          ask({ method: "GET", url, headers: { accept: "text/html" }, body: undefined }).then(
            (answered) => answered.status,
            String,
          );
        await expect
          .poll(async () => child.exitCode !== null || (await status("/readyz")) === 200, {
            timeout: startMsMax,
          })
          .toBe(true);
        expect(said).toBe("");
        expect(isHealthy()).toBe(true);
        const urls = [
          "/docs",
          "/docs/guides/webhooks",
          "/docs/errors",
          "/graphql",
          "/openapi.json",
          "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1",
        ];
        for (const url of urls) expect([url, await status(url)]).toEqual([url, 200]);
        child.kill("SIGTERM");
        expect(await ended).toEqual([0, null]);
        expect(said).toBe("");
      } finally {
        child.kill("SIGKILL");
        await ended;
      }
      const written =
        user === undefined
          ? ""
          : execFileSync("find", [join(folder, "app"), "-user", String(user.uid)], { encoding: "utf8" });
      expect(written).toBe("");
    },
    startMsMax * 1.5,
  );
});
