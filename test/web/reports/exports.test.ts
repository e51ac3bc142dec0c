/**
 * Exports through GraphQL and `GET /exports/ID.ndjson`: roles, merchants, limits, cancellation, expiry and
 * downloads in parts.
 */
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { type ExportKind, exportSources, listExportColumns } from "#commerce/exports/export-kinds.ts";
import { createExportWorker } from "#commerce/exports/export-worker.ts";
import { createLog } from "#foundation/log.ts";
import { parseByteRange } from "#graphql/reports/byte-range.ts";
import { makeExport, parseNdjson } from "#test/commerce/exports/export-calls.ts";
import { createPerson } from "#test/oauth/people.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { signInAs } from "#test/web/console/console-calls.ts";

const world = useWorld();
const hourMs = 3_600_000;
const exportKinds = Object.keys(exportSources) as ExportKind[];

const ask = async (
  query: string,
  { token = "analyst", ...variables }: { token?: string; [name: string]: unknown } = {},
) => (await world().graphql(query, { token, variables })).body;

const create = `mutation ($merchantId: ID, $input: ExportCreateInput!) {
  exportCreate(merchantId: $merchantId, input: $input) { id status percent url exportedRows totalRows } }`;
const cancel = `mutation ($merchantId: ID, $id: ID!) {
  exportCancel(merchantId: $merchantId, input: { exportId: $id }) { id status url } }`;
const read = `query ($id: ID!) { export(id: $id) {
  id merchantId kind format status from to columns exportedRows totalRows percent sizeBytes failure url
  createdAt finishedAt expiresAt } }`;

const codeOf = (body: { errors?: { extensions: { code: string } }[] }): string | undefined =>
  body.errors?.[0]?.extensions.code;

/** Creates an export of the demo's orders with the analyst's token, and lets the worker write it. */
async function completeExport(kind = "ORDERS"): Promise<string> {
  const { data } = await ask(create, { input: { kind } });
  await world().app.exports.drain();
  return data.exportCreate.id;
}

const download = (id: string, headers: Record<string, string> = {}, token = "analyst"): Promise<Answer> => {
  const { tokens } = world().demo;
  const value = tokens[token as keyof typeof tokens];
  return world().get(`/exports/${id}.ndjson`, { authorization: `Bearer ${value}`, ...headers });
};

beforeEach(async () => {
  await world().database.db.deleteFrom("exportJob").execute();
  // Exports end a minute before their creation by default. After this time they contain the whole demo.
  world().clock.advance(60_001);
});

describe("an export in the graph", () => {
  it("shows its progress, and the URL of its file once it is completed", async () => {
    const { data } = await ask(create, { input: { kind: "ORDERS" } });
    const made = data.exportCreate;
    expect(made).toEqual({
      id: expect.stringMatching(/^exp_/),
      status: "QUEUED",
      percent: 0,
      url: null,
      exportedRows: 0,
      totalRows: null,
    });
    await world()
      .database.db.updateTable("exportJob")
      .set({ status: "running", totalRows: 200, exportedRows: 101 })
      .execute();
    expect((await ask(read, { id: made.id })).data.export).toMatchObject({ percent: 50, url: null });
    await world()
      .database.db.updateTable("exportJob")
      .set({ status: "queued", totalRows: null, exportedRows: 0 })
      .execute();
    await world().app.exports.drain();
    const orders = await world().database.db.selectFrom("salesOrder").select(["id", "merchantId"]).execute();
    const rows = orders.filter(({ merchantId }) => merchantId === world().demo.merchants.first.id).length;
    expect((await ask(read, { id: made.id })).data.export).toMatchObject({
      merchantId: world().demo.merchants.first.id,
      kind: "ORDERS",
      format: "NDJSON",
      status: "COMPLETED",
      percent: 100,
      exportedRows: rows,
      totalRows: rows,
      failure: null,
      url: `${world().app.publicUrl}/exports/${made.id}.ndjson`,
    });
  });

  it("is written to the audit log with the analyst's token as its actor", async () => {
    const id = await completeExport();
    const entry = await world()
      .database.db.selectFrom("auditEntry")
      .select(["actor", "action", "targetType"])
      .where("targetId", "=", id)
      .executeTakeFirst();
    expect(entry).toEqual({ actor: "staff", action: "exportCreate", targetType: "export" });
  });

  it("is created once with an idempotency key", async () => {
    const once = `mutation { exportCreate(idempotencyKey: "once", input: { kind: REFUNDS }) { id } }`;
    const [first, second] = [await ask(once), await ask(once)];
    expect(first.data.exportCreate.id).toBe(second.data.exportCreate.id);
  });

  it("refuses a storefront, a foreign merchant, and a platform token without a merchant", async () => {
    const input = { kind: "ORDERS" };
    const merchantId = world().demo.merchants.second.id;
    expect(codeOf(await ask(create, { token: "storefront", input }))).toBe("role_not_allowed");
    expect(codeOf(await ask(create, { input, merchantId }))).toBe("merchant_not_found");
    expect(codeOf(await ask(create, { token: "operator", input }))).toBe("missing_field");
    expect((await ask(create, { token: "operator", input, merchantId })).data.exportCreate.status).toBe(
      "QUEUED",
    );
  });

  it("refuses a period that ends in the future or before it begins", async () => {
    const now = world().clock.now().getTime();
    const at = (ms: number): string => new Date(now + ms).toISOString();
    const future = await ask(create, { input: { kind: "ORDERS", to: at(1) } });
    expect(future.errors[0].extensions).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/to", code: "too_large", message: '"to" must not be in the future.' }],
    });
    const empty = await ask(create, { input: { kind: "ORDERS", from: at(-1), to: at(-1) } });
    expect(empty.errors[0].extensions.details).toMatchObject([
      { field: "/from", code: "too_large", message: '"from" must be before "to".' },
    ]);
    const openEnd = await ask(create, { input: { kind: "ORDERS", from: at(1) } });
    expect(openEnd.errors[0].extensions.details).toMatchObject([
      { field: "/from", message: '"from" must be before the default end of the period, 60 seconds ago.' },
    ]);
  });

  it("of another merchant is not found, not listed, not canceled and not downloaded", async () => {
    const { id } = await makeExport(world(), { merchantId: world().demo.merchants.second.id });
    await world().app.exports.drain();
    expect((await ask(read, { id })).data.export).toBeNull();
    expect((await ask("{ exports { totalCount } }")).data.exports.totalCount).toBe(0);
    expect((await ask("{ exports { totalCount } }", { token: "operator" })).data.exports.totalCount).toBe(1);
    expect(codeOf(await ask(cancel, { id }))).toBe("resource_not_found");
    expect(await download(id)).toMatchObject({
      status: 404,
      body: { error: { code: "resource_not_found" } },
    });
    expect((await download(id, {}, "operator")).status).toBe(200);
  });

  it("is limited to two unfinished and twenty stored ones of a merchant", async () => {
    const input = { kind: "REFUNDS" };
    for (let stored = 0; stored < 20; stored += 2) {
      await Promise.all([1, 2].map(() => ask(create, { input })));
      if (stored === 0) {
        const third = await ask(create, { input });
        expect(third.errors[0].extensions).toMatchObject({ code: "export_limit_reached", retryable: true });
      }
      await world().app.exports.drain();
    }
    const { data } = await ask("{ exports(first: 1) { totalCount edges { node { id } } } }");
    expect(data.exports.totalCount).toBe(20);
    expect(codeOf(await ask(create, { input }))).toBe("export_limit_reached");
    await ask(cancel, { id: data.exports.edges[0].node.id });
    expect((await ask(create, { input })).data.exportCreate.status).toBe("QUEUED");
  });

  it("can be canceled while it waits and after its completion, and twice", async () => {
    const waiting = (await ask(create, { input: { kind: "ORDERS" } })).data.exportCreate.id;
    const canceled = { id: waiting, status: "CANCELED", url: null };
    expect((await ask(cancel, { id: waiting })).data.exportCancel).toEqual(canceled);
    expect((await ask(cancel, { id: waiting })).data.exportCancel).toEqual(canceled);
    await world().app.exports.drain();
    expect((await ask(read, { id: waiting })).data.export).toMatchObject({
      status: "CANCELED",
      exportedRows: 0,
    });
    const completed = await completeExport();
    await ask(cancel, { id: completed });
    expect(await download(completed)).toMatchObject({
      status: 409,
      body: { error: { code: "invalid_state" } },
    });
    expect(await world().database.db.selectFrom("exportChunk").select("exportId").execute()).toEqual([]);
  });
});

describe("GET /exports/ID.ndjson", () => {
  it("answers with one JSON object per row, amounts with currency and exponent", async () => {
    const id = await completeExport();
    const { status, headers, text } = await download(id);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-disposition": `attachment; filename="${id}.ndjson"`,
      "content-length": String(Buffer.byteLength(text)),
      "accept-ranges": "bytes",
      etag: `"${id}"`,
      "cache-control": "no-store",
    });
    const rows = parseNdjson(text);
    const placed = rows.find(({ orderId }) => orderId === world().demo.orders.placed);
    const { data } = await ask(
      "query ($id: ID!) { order(id: $id) { number totals { total { amountMinor } } } }",
      {
        id: world().demo.orders.placed,
      },
    );
    expect(placed).toMatchObject({
      number: data.order.number,
      totalMinor: data.order.totals.total.amountMinor,
      currency: "EUR",
      exponent: 2,
    });
    expect((await ask(read, { id })).data.export.columns).toEqual(Object.keys(placed ?? {}));
  });

  it("has no column of personal data: notes, names, addresses, buyers and tracking numbers", () => {
    const columns = Object.values(exportSources).flatMap((source) => Object.values(source.columns));
    const personal = /note|buyer|email|address|tracking|recipient|phone|token|session|hold_reason|serial/;
    expect(columns.filter((column) => personal.test(column))).toEqual([]);
  });

  it("has the columns that the guide lists", () => {
    const guide = readFileSync(new URL("../../../docs/guides/exports.md", import.meta.url), "utf8");
    const text = guide.replaceAll(/\s+/g, " ");
    for (const kind of exportKinds) {
      const columns = listExportColumns(kind).map((name) => `\`${name}\``);
      expect(text).toContain(`- **\`${kind.toUpperCase()}\`**: ${columns.join(", ")}.`);
    }
  });

  it("is refused while the export is not completed, with the time until the next attempt", async () => {
    const { data } = await ask(create, { input: { kind: "ORDERS" } });
    const answer = await download(data.exportCreate.id);
    expect(answer).toMatchObject({
      status: 409,
      headers: { "retry-after": "5" },
      body: { error: { code: "export_not_completed", conflict: { currentStatus: "queued" } } },
    });
  });

  it("is refused to storefronts, without a token, and for paths without an export's id", async () => {
    const id = await completeExport();
    expect(await download(id, {}, "storefront")).toMatchObject({
      status: 403,
      body: { error: { code: "role_not_allowed" } },
    });
    expect((await world().get(`/exports/${id}.ndjson`)).status).toBe(401);
    expect((await download(`${id}.csv`)).status).toBe(404);
    expect((await world().send({ method: "POST", url: `/exports/${id}.ndjson` })).status).toBe(405);
  });

  it("accepts a link on a page of the console", async () => {
    const id = await completeExport();
    const cookie = await signInAs(world(), (await createPerson(world())).email);
    const link = { cookie, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };
    expect((await world().get(`/exports/${id}.ndjson`, link)).text).toBe((await download(id)).text);
  });

  it("continues a broken download at any byte, also across chunks", async () => {
    const { id } = await makeExport(world(), { kind: "order_lines" });
    await createExportWorker({
      ...world().app.services,
      log: createLog("silent"),
      chunkRowsMax: 4,
    }).drain();
    const whole = Buffer.from((await download(id)).text);
    for (const start of [0, 1, 700, whole.length - 1]) {
      const rest = await download(id, { range: `bytes=${start}-`, "if-range": `"${id}"` });
      expect(rest.status).toBe(206);
      expect(rest.headers).toMatchObject({
        "content-range": `bytes ${start}-${whole.length - 1}/${whole.length}`,
        "content-length": String(whole.length - start),
      });
      expect(rest.text).toBe(whole.subarray(start).toString());
    }
    const middle = await download(id, { range: "bytes=500-2999" });
    expect(middle.text).toBe(whole.subarray(500, 3000).toString());
    expect((await download(id, { range: "bytes=1-", "if-range": '"other"' })).status).toBe(200);
  });

  it("answers 416 for a part behind the end of the file, also of an empty file", async () => {
    const id = await completeExport();
    const { length } = Buffer.from((await download(id)).text);
    const behind = await download(id, { range: `bytes=${length}-` });
    expect(behind).toMatchObject({
      status: 416,
      headers: { "content-range": `bytes */${length}` },
      body: { error: { code: "range_not_satisfiable" } },
    });
    const empty = await makeExport(world(), { to: new Date("2001-01-01") });
    await world().app.exports.drain();
    expect(await download(empty.id)).toMatchObject({ status: 200, text: "" });
    expect((await download(empty.id, { range: "bytes=0-" })).status).toBe(416);
  });

  it("answers HEAD with the size and without a body", async () => {
    const id = await completeExport();
    const authorization = `Bearer ${world().demo.tokens.analyst}`;
    const answer = await world().send({
      method: "HEAD",
      url: `/exports/${id}.ndjson`,
      headers: { authorization },
    });
    const { length } = Buffer.from((await download(id)).text);
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "content-length": String(length) } });
  });

  it("is not found after 24 hours", async () => {
    const id = await completeExport();
    world().clock.advance(24 * hourMs);
    expect((await download(id)).status).toBe(404);
    expect((await ask(read, { id })).data.export).toBeNull();
  });
});

it.each([
  ["bytes=0-9", { start: 0, size: 10 }],
  ["bytes=90-200", { start: 90, size: 10 }],
  ["bytes=-5", { start: 95, size: 5 }],
  ["bytes=-500", { start: 0, size: 100 }],
  ["bytes=5-4", undefined],
  ["bytes=0-1,5-6", undefined],
  ["lines=0-1", undefined],
  ["", undefined],
])("the Range header %s of a file of 100 bytes requests the right part", (header, part) => {
  expect(parseByteRange(header, 100)).toEqual(part);
});
