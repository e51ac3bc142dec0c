/**
 * Assets of pages: named by hash and cached forever, compressed if the browser accepts it, and limited to
 * built files.
 */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createFastifyServer } from "#http/server.ts";
import { createLog } from "#foundation/log.ts";
import { getPageScriptAndStylePaths, assetsPlugin } from "#pages/shared/assets.ts";
import type { FastifyInstance } from "fastify";

const publicUrl = "http://127.0.0.1:4000";

async function serverOfAssets(): Promise<FastifyInstance> {
  const server = await createFastifyServer({ publicUrl, log: createLog("silent"), proxies: 0 });
  await server.register(assetsPlugin);
  return server;
}

const headers = { host: "127.0.0.1:4000" };
const [script = ""] = getPageScriptAndStylePaths("console", publicUrl).scripts;

describe("assets", () => {
  it("are named by their hash, below the service's path", () => {
    expect(script).toMatch(/^\/assets\/console-[\w-]{8}\.js$/);
    expect(getPageScriptAndStylePaths("console", "https://shop.example/api").scripts).toEqual([
      `/api${script}`,
    ]);
  });

  it("are cached forever by browsers, in the encoding that they accept", async () => {
    const server = await serverOfAssets();
    const plain = await server.inject({ url: script, headers });
    expect(plain.statusCode).toBe(200);
    expect(plain.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const zipped = await server.inject({ url: script, headers: { ...headers, "accept-encoding": "gzip" } });
    expect(gunzipSync(zipped.rawPayload)).toEqual(plain.rawPayload);
    const best = await server.inject({
      url: script,
      headers: { ...headers, "accept-encoding": "gzip, deflate, br" },
    });
    expect(best.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(best.rawPayload)).toEqual(plain.rawPayload);
    await server.close();
  });

  it.each([
    "/assets/none-12345678.js",
    "/assets/..%2F.vite%2Fmanifest.json",
    "/assets/manifest.json",
    "/assets/..%2f..%2f..%2fpackage.js",
    "/assets/%2e%2e",
  ])("are limited to built files: %s", async (url) => {
    const server = await serverOfAssets();
    const answer = await server.inject({ url, headers });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ error: { code: "route_not_found" } });
    await server.close();
  });

  it("allow only reads", async () => {
    const server = await serverOfAssets();
    const answer = await server.inject({ method: "POST", url: script, headers });
    expect([answer.statusCode, answer.headers["allow"]]).toEqual([405, "GET, HEAD"]);
    await server.close();
  });
});
