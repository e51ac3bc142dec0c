/**
 * `mesh build`, `mesh validate` and `mesh dev`, as `npm run mesh` starts them, on the project's own
 * configuration.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "#test/support/process.ts";
import { fillMeshFolder } from "./mesh-folder.ts";

const bin = new URL("../../node_modules/.bin/mesh", import.meta.url).pathname;

/** A copy of the project in a temporary folder, which receives the artifacts. */
const projectCopy = (): string => fillMeshFolder(temporaryFolder(), (configuration) => configuration);

function startMesh(
  cwd: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): { child: ChildProcess; output: () => string } {
  // Without the compile cache, Mesh's modules take most of the time.
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, output: () => text };
}

async function runMesh(
  cwd: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const { child, output } = startMesh(cwd, args);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: output() };
}

it("mesh build writes the merged schema, and mesh validate accepts it", async () => {
  const folder = projectCopy();
  const built = await runMesh(folder, ["build"]);
  expect(built).toMatchObject({ code: 0, output: expect.stringContaining("Done!") });
  expect(readFileSync(join(folder, ".mesh/schema.graphql"), "utf8")).toMatch(/^type Cart /m);
  expect(existsSync(join(folder, ".mesh/index.ts"))).toBe(true);
  expect(await runMesh(folder, ["validate"])).toMatchObject({
    code: 0,
    output: expect.stringContaining("Artifacts are valid!"),
  });
});

it("mesh dev listens on localhost only, and runs documents only for callers with a token", async () => {
  const folder = projectCopy();
  const port = await findFreePort("127.0.0.1");
  const { output } = startMesh(folder, ["dev", "--port", String(port)], {
    DATA_DIR: join(folder, "data"),
    DEMO: "0",
    LOG_LEVEL: "silent",
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/readiness`)).status).toBe(204), {
    timeout: 50_000,
    interval: 250,
  });
  expect(output()).toContain(`Serving GraphQL Mesh: ${url}`);
  const ask = async (
    query: string,
    authorization?: string,
  ): Promise<{ text: string; errors: { extensions: { code: string } }[] }> => {
    const headers = {
      "content-type": "application/json",
      ...(authorization === undefined ? {} : { authorization }),
    };
    const text = await (
      await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }) })
    ).text();
    return { text, ...(JSON.parse(text) as { errors: { extensions: { code: string } }[] }) };
  };
  const withoutCaller = await ask("{ viewer { __typename } }");
  expect(withoutCaller.errors.map(({ extensions }) => extensions.code)).toEqual(["credentials_missing"]);
  const withWrongToken = await ask("{ viewer { __typename } }", "Bearer cit_admin_wrong");
  expect(withWrongToken.errors.map(({ extensions }) => extensions.code)).toEqual(["api_key_invalid"]);
  for (const { text } of [withoutCaller, withWrongToken])
    expect(text).not.toMatch(/stack|node_modules|\.ts:/);
  const page = await (await fetch(`${url}/graphql`, { headers: { accept: "text/html" } })).text();
  expect(page).not.toMatch(/(?:src|href)="https?:/);
});
