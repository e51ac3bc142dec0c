/**
 * GraphiQL's page and its type map: small, under a strict content policy, with large files that browsers
 * cache.
 */
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as parts from "@graphql-yoga/render-graphiql/graphiql";
import { renderGraphiQL } from "@graphql-yoga/render-graphiql";
import { fastify } from "fastify";
import { describe, expect, it } from "vitest";
import { graphiqlComponentFiles } from "#pages/graphiql/component-plugin.ts";
import { failureKinds } from "#foundation/failure.ts";
import { graphiqlPlugin } from "#pages/graphiql/plugin.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

const world = useWorld();
const open = (url: string): Promise<Answer> => world().get(url, { accept: "text/html" });

it("GraphiQL's page has no inline script or style, and loads only this service's files", async () => {
  const { status, headers, text } = await open("/graphql");
  expect(status).toBe(200);
  expect(text.length).toBeLessThan(64 * 1024);
  expect(text).not.toMatch(/<style|\sstyle=|\son\w+=/);
  expect(
    [...text.matchAll(/<script(?! type="application\/json")([^>]*)>([^<]*)/g)].map(([, , inline]) => inline),
  ).toEqual([""]);
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' " +
      "'unsafe-inline'; font-src 'self'; img-src data:; form-action 'none'; frame-ancestors 'none'; " +
      "base-uri 'none'",
  );
});

it("GraphiQL's files are named by their hash, compressed and cached forever", async () => {
  const { text } = await open("/graphql");
  const addresses = new Set(text.match(/\/assets\/graphiql-[\w.-]+\.(?:js|css)/g));
  expect(addresses.size).toBe(Object.keys(graphiqlComponentFiles).length + 2);
  for (const url of addresses) {
    const { status, headers } = await world().get(url, { "accept-encoding": "br" });
    expect({ url, status, encoding: headers["content-encoding"], kept: headers["cache-control"] }).toEqual({
      url,
      status: 200,
      encoding: "br",
      kept: "public, max-age=31536000, immutable",
    });
  }
});

it("GraphiQL's page renders what the package renders; else see component-plugin.ts, editor.ts", () => {
  expect(Object.keys(parts).toSorted()).toEqual([
    "css",
    "editorWorkerService",
    "favicon",
    "graphqlWorker",
    "js",
    "jsonWorker",
  ]);
  const rendered = renderGraphiQL({ title: "x" });
  expect(rendered.includes(parts.css) && rendered.includes(parts.js)).toBe(true);
  const own = rendered.replace(parts.css, "").replace(parts.js, "");
  expect(own).toMatch(
    /editorWorkerService: prepareBlob\([\s\S]+json: prepareBlob\([\s\S]+graphql: prepareBlob\(/,
  );
  expect(own).toContain("self['MonacoEnvironment'] = {");
  expect(own).toMatch(/getWorkerUrl: function \(moduleId, label\) \{\s+return workers\[label\];/);
  expect(own).toContain("YogaGraphiQL.renderYogaGraphiQL(");
  // Further names that the page's script relies on: of models, of the button, of stored keys.
  for (const name of [
    '"operation.graphql"',
    '"variables.json"',
    '"response.json"',
    '"graphiql-response"',
    '"graphiql-plugin"',
    '"graphiql-doc-explorer-title"',
    '"graphiql-doc-explorer-header-content"',
    "onSchemaChange",
    '"New tab"',
    '"tabState"',
    "globalAPI",
    "IntrospectionQuery",
  ])
    expect(parts.js).toContain(name);
});

it("the type map loads only its own files and the graph", async () => {
  const { status, headers, text } = await open("/graphql/map");
  expect(status).toBe(200);
  expect(headers["content-security-policy"]).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+' 'self'; script-src 'self'; connect-src 'self';/,
  );
  expect(headers["content-security-policy"]).not.toContain("unsafe");
  expect(text).toContain('{"endpoint":"/graphql","docs":"/docs","console":"/console"}');
});

describe("the demo's tokens", () => {
  const loopback = "http://127.0.0.1:4000";
  const ask = async (host: string, own = loopback): Promise<{ text: string; kept: unknown }[]> => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "graphiql-"));
    await writeFile(join(folder.path, "demo.json"), JSON.stringify(world().demo));
    const server = fastify();
    await server.register(graphiqlPlugin, {
      publicUrl: own,
      settings: { demo: true, dataDir: folder.path },
    });
    const answers = ["/graphql", "/graphql/map"].map(async (url) => {
      const { body, headers } = await server.inject({ url, headers: { accept: "text/html", host } });
      return { text: body, kept: headers["cache-control"] };
    });
    return Promise.all(answers).finally(() => server.close());
  };

  it("are in both pages at a loopback address, and are not stored", async () => {
    for (const { text, kept } of await ask("127.0.0.1:4000")) {
      expect(text).toContain(world().demo.tokens.analyst);
      expect(kept).toBe("no-store");
    }
  });

  it.each([
    { host: "evil.example", own: loopback },
    { host: "evil.example:4000", own: loopback },
    { host: "demo.example", own: "https://demo.example" },
  ])("are in no page for $host at $own", async ({ host, own }) => {
    for (const { text } of await ask(host, own)) expect(text).not.toContain("cit_");
  });
});

it("GraphiQL explains every error code, without Markdown links", async () => {
  const guide = graphiqlComponentFiles["graphiql-error-guide.js"];
  const explained = JSON.parse(guide.replace("export default ", "").replace(/;\n$/, "")) as object;
  expect(Object.keys(explained).toSorted()).toEqual(Object.keys(failureKinds).toSorted());
  expect(guide).not.toMatch(/\]\(/);
});
