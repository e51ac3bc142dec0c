/** MCP at /mcp: every REST operation is a tool with the operation's schemas, and guides are resources. */
import type { Client } from "@modelcontextprotocol/client";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { connectMcpClient, type ProtocolEra } from "./mcp-client.ts";

const world = useWorld();
const search = { q: "tent", locale: "en", market: "DE", sort: "relevance", page: 1, pageSize: 5 };
const eras: readonly ProtocolEra[] = ["2025-11-25", "2026-07-28"];

describe.each(eras)("an MCP client of the protocol version %s", (era) => {
  let client: Client;
  beforeAll(async () => {
    const headers = { authorization: `Bearer ${world().demo.keys.full}` };
    client = await connectMcpClient(world(), { headers, era });
  });
  afterAll(() => client.close());

  it("finds a tool for every REST operation", async () => {
    const { operations } = await readContract(world());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      operations.map(({ operationId }) => operationId).toSorted(),
    );
    for (const tool of tools) {
      const operation = operations.find(({ operationId }) => operationId === tool.name);
      expect(tool.annotations).toMatchObject({ readOnlyHint: operation?.method === "GET" });
      expect(tool.description).toContain(operation?.description);
      const scope = operation?.["x-required-scope"] ?? "none";
      if (scope !== "none") expect(tool.description).toContain(`with the scope ${scope}.`);
    }
  });

  it("gets answers that match the tool's output schema", async () => {
    const { merchants, orders } = world().demo;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const { tools } = await client.listTools();
    const calls: [string, Record<string, unknown>][] = [
      ["getApiKeyIdentity", {}],
      ["searchPublicProducts", search],
      ["listApiKeyCatalogProducts", {}],
      ["getStorefrontOrder", { orderId: orders?.placed }],
      ["listInstallationWebhookEvents", {}],
    ];
    for (const [name, args] of calls) {
      const { isError, structuredContent, content } = await client.callTool({ name, arguments: args });
      expect({ name, isError: isError ?? false, content: isError ? content : null }).toEqual({
        name,
        isError: false,
        content: null,
      });
      const check = ajv.compile(
        JSON.parse(JSON.stringify(tools.find((tool) => tool.name === name)?.outputSchema)),
      );
      expect(check(structuredContent), JSON.stringify(check.errors)).toBe(true);
    }
    const found = await client.callTool({
      name: "searchPublicProducts",
      arguments: { ...search, merchant: merchants.first.slug, locale: "de" },
    });
    expect(found.structuredContent).toMatchObject({ data: expect.anything() });
  });

  it("reads guides, errors, events and the OpenAPI document as resources", async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["guide-getting-started", "guide-webhooks", "errors", "events", "openapi"]),
    );
    for (const { uri, mimeType } of resources) {
      const [content] = (await client.readResource({ uri })).contents;
      expect(content).toMatchObject({ uri, mimeType, text: expect.stringMatching(/\S{3}/) });
    }
    await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow(/not found/i);
  });

  it("gets prompts that name only existing tools", async () => {
    const { tools } = await client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThan(3);
    for (const { name, arguments: args = [] } of prompts) {
      const values = Object.fromEntries(args.map((argument) => [argument.name, `value-of-${argument.name}`]));
      const { messages } = await client.getPrompt({ name, arguments: values });
      const text = JSON.stringify(messages);
      const mentioned =
        text.match(/\b(?:get|list|search|apply|create|replay|revoke|set|remove|cancel)[A-Z]\w+/g) ?? [];
      expect(mentioned.length).toBeGreaterThan(0);
      expect(mentioned.filter((tool) => !names.has(tool))).toEqual([]);
      for (const { name: argument, required } of args)
        if (required === true) expect(text).toContain(`value-of-${argument}`);
    }
    await expect(client.getPrompt({ name: "explain_order" })).rejects.toThrow(
      'The prompt explain_order requires the argument "orderId".',
    );
    await expect(client.getPrompt({ name: "unknown" })).rejects.toThrow('There is no prompt "unknown".');
  });

  it("learns which argument is wrong, and which are allowed", async () => {
    const textOf = async (name: string, args: Record<string, unknown>): Promise<string> => {
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect(isError).toBe(true);
      return JSON.stringify(content);
    };
    expect(await textOf("getPublicCart", { cart: "x" })).toContain(
      String.raw`The argument \"cart\" is unknown. The argument \"cartId\" is required. Allowed: cartId`,
    );
    expect(await textOf("revokePublicCart", { idempotencyKey: [] })).toContain(
      String.raw`The argument \"cartId\" is required. The argument \"body\" is required. Allowed: cartId, body, ` +
        String.raw`idempotencyKey. The argument \"idempotencyKey\" must be a text, a number or a boolean.`,
    );
    expect(await textOf("getPublicCart", { cartId: ["x"] })).toContain(
      "must be a text, a number or a boolean",
    );
    expect(
      await textOf("revokePublicCart", { cartId: "x", body: {}, idempotencyKey: "a\r\nb: c" }),
    ).toContain("must consist of printable ASCII characters");
    expect(await textOf("searchPublicProducts", { ...search, pageSize: 1000 })).toContain("too_large");
    await expect(client.callTool({ name: "deleteEverything", arguments: {} })).rejects.toThrow(
      'There is no tool "deleteEverything".',
    );
  });
});

it("answers other methods than POST with 405, and does not keep streams open", async () => {
  for (const method of ["GET", "DELETE"])
    expect(await world().send({ method, url: "/mcp" })).toMatchObject({
      status: 405,
      headers: { allow: "POST" },
    });
});

it("refuses pages of other origins", async () => {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const send = (origin: string) =>
    world().send({
      method: "POST",
      url: "/mcp",
      headers: { origin, accept: "application/json, text/event-stream" },
      body,
    });
  const refused = await send("https://evil.example");
  expect(refused.status).toBe(403);
  expect(refused.body.error).toMatchObject({
    code: "origin_not_allowed",
    message: `The Origin header must be ${publicUrl}, or missing.`,
  });
  expect((await send(publicUrl)).status).toBe(200);
});
