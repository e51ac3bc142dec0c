/** Every example of the reference runs unchanged with the demo's key against a test service. */
import { execFile } from "node:child_process";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type OpenApiDocument,
  type OpenApiDocumentOperation,
  listOpenApiOperations,
} from "#pages/docs/api-document.ts";
import { demoFolderOf, runInShell } from "#test/support/shell.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { publicUrl, type World } from "#test/support/world.ts";
import { useWorld } from "#test/support/use-world.ts";
import { blocksOf, pageAt } from "./docs-pages.ts";

/** Starts listening at the address that the pages show. */
async function listen(world: World): Promise<string> {
  await world.app.server.listen({ host: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${(world.app.server.server.address() as AddressInfo).port}`;
}

const operationsAt = async (world: World): Promise<OpenApiDocumentOperation[]> =>
  listOpenApiOperations((await world.get("/openapi.json")).body as OpenApiDocument);

/** The access token that an app got by OAuth. */
async function tokenFor(world: World): Promise<{ ACCESS_TOKEN: string; DPOP_PROOF: string }> {
  const client = await createTokenClient(world);
  const token = await client.token();
  return { ACCESS_TOKEN: token, DPOP_PROOF: await client.proof({ url: "/api/v1/oauth/authorize" }, token) };
}

describe("with curl", () => {
  const world = useWorld("postgres", { environment: { PORT: "0" } });
  let address = "";
  beforeAll(async () => {
    address = await listen(world());
  });

  it("takes the demo's key as the line above says", async () => {
    const [line = ""] = blocksOf(await pageAt(world(), "/docs"), "Shell");
    const folder = demoFolderOf(world());
    const { output } = await runInShell(`${line}\nprintf %s "$KEY"`, { DATA_DIR: folder });
    expect(output).toBe(world().demo.keys.full);
  });

  it("runs the examples of the first steps", async () => {
    const blocks = blocksOf(await pageAt(world(), "/docs"), "curl");
    expect(blocks).toHaveLength(2);
    for (const block of blocks) {
      const { statuses, output } = await runInShell(block.replaceAll(publicUrl, address), {
        KEY: world().demo.keys.full,
      });
      expect(statuses).toEqual([200]);
      expect(JSON.parse(output)).toHaveProperty("data");
    }
  });

  it("runs every operation's example, each once and in any order", async () => {
    const tokens = await tokenFor(world());
    for (const { id, method } of (await operationsAt(world())).toReversed()) {
      const blocks = blocksOf(await pageAt(world(), `/docs/operations/${id}`), "curl");
      expect([id, blocks.length]).toEqual([id, 1]);
      const { statuses, output } = await runInShell((blocks[0] ?? "").replaceAll(publicUrl, address), {
        KEY: world().demo.keys.full,
        ...tokens,
      });
      expect([id, statuses.length > 0, statuses.filter((status) => status !== 200)]).toEqual([id, true, []]);
      expect([id, method, JSON.parse(output)]).toEqual([
        id,
        method,
        expect.objectContaining({ data: expect.anything() as unknown }),
      ]);
    }
  });
});

describe("with JavaScript", () => {
  const world = useWorld("postgres", { environment: { PORT: "0" } });

  it("runs every operation's example, each once", async () => {
    const address = await listen(world());
    const env = { ...process.env, KEY: world().demo.keys.full, ...(await tokenFor(world())) };
    for (const { id } of await operationsAt(world())) {
      const [program = ""] = blocksOf(await pageAt(world(), `/docs/operations/${id}`), "JavaScript");
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["--input-type=module", "-e", program.replaceAll(publicUrl, address)],
        { env },
      );
      expect([id, stdout.slice(0, 4)]).toEqual([id, "200 "]);
    }
  });
});
