/**
 * The image, without Docker: the Dockerfile is sound, what it copies is there and is enough, and what comes
 * of it starts as the user that it names, who can write nowhere but in DATA_DIR. The second half is run by
 * `npm run test:image`.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askOver, freePort } from "#soak/service.ts";
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
/** Cold, with nothing compiled before, on a machine that has other things to do. */
const startMsMax = 200_000;

describe("the Dockerfile", () => {
  it("has no fault", () => {
    expect(validate(dockerfileText)).toEqual([]);
  });

  it("stands on the runtime of package.json, and names its version", () => {
    const base = `node:${manifest.dependencies["node"]}-trixie-slim`;
    expect([build[0]?.text, final[0]?.text]).toEqual([`${base} AS build`, base]);
    expect(final).toContainEqual(
      expect.objectContaining({ keyword: "ARG", text: `VERSION=${manifest.version}` }) as Step,
    );
  });

  it("copies what is there, and .dockerignore lets no more through", () => {
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

  it("runs as somebody who owns nothing but the data, is told to stop by SIGTERM, and starts without a shell", () => {
    const user = findStep(final, "USER")?.text ?? "";
    expect(user).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
    expect(findStep(final, "RUN")?.text).toContain(`mkdir -m 700 /data && chown ${user} /data`);
    expect(findStep(final, "STOPSIGNAL")?.text).toBe("SIGTERM");
    // As `npm start` has it.
    const [, arenas = "", command = ""] =
      /MALLOC_ARENA_MAX:-(\d+)}" exec (.+)$/.exec(manifest.scripts.start) ?? [];
    expect(
      [...commandOf(findStep(final, "ENTRYPOINT")), ...commandOf(findStep(final, "CMD"))].join(" "),
    ).toBe(command);
    expect(findStep(final, "ENV")?.text).toContain(`MALLOC_ARENA_MAX=${arenas}`);
    expect(commandOf(findStep(final, "CMD"))).toEqual(["serve"]);
  });
});

/** Whom it runs as, where we are root: nobody else can start something as somebody else. */
function userOf(stage: readonly Step[]): { readonly uid: number; readonly gid: number } | undefined {
  const [uid = 0, gid = 0] = (findStep(stage, "USER")?.text ?? "").split(":").map(Number);
  return process.getuid?.() === 0 ? { uid, gid } : undefined;
}

/** Takes half a minute, so it has a command of its own. */
describe.runIf(process.env["TEST_IMAGE"] === "1")("what comes of it", () => {
  let folder: string;
  beforeAll(() => {
    folder = buildImage();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(`is small: at most ${imageMegabytesMax} MB on top of the runtime, without anything that builds`, () => {
    const [megabytes] = execFileSync("du", ["-sm", join(folder, "app")], { encoding: "utf8" }).split("\t");
    expect(Number(megabytes)).toBeLessThanOrEqual(imageMegabytesMax);
    const packages = join(folder, "app/node_modules");
    for (const name of ["node", "vite", "rolldown", "preact", "typescript", "vitest", "@graphql-mesh/cli"])
      expect(existsSync(join(packages, name)), name).toBe(false);
  });

  it(
    "starts, is healthy, serves the demo and its pages, and stops in order, having written nothing but data",
    async () => {
      const dataDir = join(folder, "data");
      mkdirSync(dataDir, { mode: 0o700 });
      const user = userOf(final);
      if (user !== undefined) chownSync(dataDir, user.uid, user.gid);
      const port = await freePort();
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
        const ask = askOver(port);
        const status = async (url: string): Promise<number | string> => {
          if (child.exitCode !== null) throw new Error(`It ended: ${said}`);
          return ask({ method: "GET", url, headers: { accept: "text/html" }, body: undefined }).then(
            (answered) => answered.status,
            String,
          );
        };
        await expect.poll(() => status("/readyz"), { timeout: startMsMax }).toBe(200);
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
