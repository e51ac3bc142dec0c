/**
 * `mesh build`, `mesh validate` and `mesh dev`, as `npm run mesh` starts them, on the project's own
 * configuration.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it, vi } from "vitest";
import { type EndHook, temporaryFolderUntil } from "#test/support/process.ts";
import { fillMeshFolder } from "./mesh-folder.ts";

/** Several cold starts, two at the same time. */
vi.setConfig({ testTimeout: 180_000 });

const bin = new URL("../../node_modules/.bin/mesh", import.meta.url).pathname;

/** A copy of the project in a temporary folder, which receives the artifacts. */
const projectCopy = (end: EndHook): string =>
  fillMeshFolder(temporaryFolderUntil(end), (configuration) => configuration);

interface MeshCommand {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The hook in which the command is killed if it still runs. */
  readonly end: EndHook;
}

function startMesh({ cwd, args, environment = {}, end }: MeshCommand): {
  child: ChildProcess;
  output: () => string;
} {
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
  end(() => void child.kill("SIGKILL"));
  return { child, output: () => text };
}

async function runMesh(command: MeshCommand): Promise<{ code: number | null; output: string }> {
  const { child, output } = startMesh(command);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output: output() };
}

it.concurrent("mesh build writes the merged schema, and mesh validate accepts it", async ({
  expect,
  onTestFinished: end,
}) => {
  const cwd = projectCopy(end);
  const built = await runMesh({ cwd, args: ["build"], end });
  expect(built).toMatchObject({ code: 0, output: expect.stringContaining("Done!") });
  expect(readFileSync(join(cwd, ".mesh/schema.graphql"), "utf8")).toMatch(/^type Cart /m);
  expect(existsSync(join(cwd, ".mesh/index.ts"))).toBe(true);
  expect(await runMesh({ cwd, args: ["validate"], end })).toMatchObject({
    code: 0,
    output: expect.stringContaining("Artifacts are valid!"),
  });
});

it.concurrent("mesh dev listens on localhost only, and runs documents only for callers with a token", async ({
  expect,
  onTestFinished: end,
}) => {
  const cwd = projectCopy(end);
  const port = await findFreePort("127.0.0.1");
  const { output } = startMesh({
    cwd,
    args: ["dev", "--port", String(port)],
    environment: { DATA_DIR: join(cwd, "data"), DEMO: "0", LOG_LEVEL: "silent" },
    end,
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/readiness`)).status).toBe(204), {
    timeout: 150_000,
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
