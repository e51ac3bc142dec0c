/**
 * Export of spans to a collector that answers badly or not at all: the log lines, and the number of spans
 * that are kept.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { startTracing, createSpanExporterLoggingOutages } from "#observability/tracing.ts";
import { createLog } from "#foundation/log.ts";
import { startSpan } from "#foundation/tracing.ts";
import { startCollector } from "#test/support/collector.ts";

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const eventsTo =
  (logged: unknown[]) =>
  (line: string): void =>
    void logged.push((JSON.parse(line) as { event: unknown }).event);

function traceTo(endpoint: string): void {
  onTestFinished(startTracing({ endpoint, environment: {}, log: createLog("silent"), intervalMs: 5 }));
}

const note = (count: number): void => {
  for (let made = 0; made < count; made += 1) startSpan({ name: "made", ownTrace: {} })?.end();
};

it("an outage is logged once, and its end once, as often as there is one", () => {
  const logged: unknown[] = [];
  const results = [0, 1, 1, 0, 0, 1];
  const exporter = createSpanExporterLoggingOutages(
    { export: (_spans, done) => done({ code: results.shift() ?? 0 }), shutdown: () => Promise.resolve() },
    createLog("info", { write: eventsTo(logged) }),
  );
  const seen = [...results].map(() => {
    let code: number | undefined;
    exporter.export([], (result) => ({ code } = result));
    return [code, logged.length];
  });
  expect(seen).toEqual([
    [0, 0],
    [1, 1],
    [1, 1],
    [0, 2],
    [0, 2],
    [1, 3],
  ]);
  expect(logged).toEqual(["traces_lost", "traces_sent", "traces_lost"]);
});

it("a collector that accepts all requests and answers none holds at most nine batches", async () => {
  let asked = 0;
  const open = { now: 0, most: 0 };
  const endpoint = await listen((request, response) => {
    if (request.url === "/here") return void response.end();
    asked += 1;
    // Each failed request starts one more beside the next one.
    if (asked % 2 === 1) return void request.resume().once("end", () => response.writeHead(400).end());
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    // On a slow machine, exports reach their time limit during the test, and others take their place.
    response.once("close", () => (open.now -= 1));
    return void request.resume();
  });
  traceTo(endpoint);
  // On a slow machine, it takes more rounds until the limit is reached. Further rounds must not exceed it.
  let roundsAtLimit = 0;
  for (let round = 0; round < 300 && roundsAtLimit < 20; round += 1) {
    if (open.most >= 9) roundsAtLimit += 1;
    note(4_096);
    await setImmediate();
    // A round trip, during which all other requests arrive too.
    await (await fetch(`${endpoint}/here`)).text();
  }
  expect(open.most).toBe(9);
});

it("a span keeps all causes that one fan-out may have", async () => {
  await using collector = await startCollector();
  traceTo(collector.endpoint);
  const causes = Array.from(
    { length: 200 },
    (_none, index) => `00-${(index + 1).toString(16).padStart(32, "0")}-00000000000000ff-01`,
  );
  startSpan({ name: "webhook fan-out", ownTrace: {}, causes })?.end();
  await expect.poll(() => collector.spans.map(({ links }) => links.length)).toEqual([200]);
});
