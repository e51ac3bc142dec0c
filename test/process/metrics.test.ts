/**
 * Real processes on one port: each answers /metrics with the sum of all, also if one is paused, killed, or
 * could not be started.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { copyDemo, encryptionKeys } from "#test/support/copies.ts";
import { startService, temporaryFolder } from "#test/support/process.ts";
import { readScrape, type Scrape } from "#test/web/scrape.ts";

it("two processes report their metrics together, whatever happens to either", async () => {
  const dataDir = temporaryFolder();
  const { database, fill } = await copyDemo("postgres");
  fill(dataDir);
  const METRICS_TOKEN = "a-token-of-sixteen-characters-or-more";
  const { address, output, child } = await startService({
    DATABASE_URL: database.url ?? "",
    ENCRYPTION_KEYS: encryptionKeys,
    DATA_DIR: dataDir,
    METRICS_TOKEN,
    DATABASE_POOL: "3",
    DEMO: "1",
    PROCESSES: "2",
    RATE_LIMIT_SCALE: "0",
  });
  await expect.poll(() => readyIn(output())).toHaveLength(2);
  const pids = readyIn(output());
  const ask = (path: string): Promise<Response> =>
    fetch(`${address}${path}`, {
      headers: { connection: "close", authorization: `Bearer ${METRICS_TOKEN}` },
    });
  const scrape = async (): Promise<Scrape> => readScrape(await (await ask("/metrics")).text());
  const counted = async (): Promise<unknown[]> => {
    const { value } = await scrape();
    return [
      value("commerce_http_requests_total", { operation: "unknown" }),
      value("commerce_processes", { state: "answered" }),
      value("commerce_processes", { state: "missing" }),
    ];
  };
  expect((await fetch(`${address}/metrics`)).status).toBe(404);
  for (let request = 0; request < 9; request += 1) await ask("/nothing-is-here");
  await expect.poll(counted).toEqual([9, 2, 0]);
  const gathered = [
    "commerce_build_info",
    "commerce_database_connections_max",
    "commerce_database_up",
    "commerce_events_waiting",
  ];
  const valuesOf = async (): Promise<unknown[]> => {
    const { value } = await scrape();
    return gathered.map((name) => value(name));
  };
  // A scrape leaves out a process that does not answer in time on a busy machine.
  await expect.poll(valuesOf).toEqual([2, 6, 1, 0]);

  // Connections given to the paused process wait; the other process answers the rest.
  const [first = 0, second = 0] = pids;
  process.kill(second, "SIGSTOP");
  await expect.poll(() => Promise.any(Array.from({ length: 4 }, counted))).toEqual([9, 1, 1]);
  process.kill(second, "SIGCONT");
  await expect.poll(counted).toEqual([9, 2, 0]);

  const allowFiles = process.platform === "linux" ? limitFiles(child.pid ?? 0) : undefined;
  process.kill(first, "SIGKILL");
  if (allowFiles !== undefined) {
    await expect.poll(() => output().match(/"event":"process_ended"(?!.*"pid")/g)).not.toBeNull();
    await expect.poll(counted).toEqual([9, 1, 0]);
    allowFiles();
  }
  await expect.poll(() => readyIn(output())).toHaveLength(3);
  await expect.poll(counted).toEqual([9, 2, 0]);
});

const readyIn = (output: string): number[] =>
  [...output.matchAll(/\{.*"event":"process_ready".*\}/g)].map(
    ([line]) => (JSON.parse(line) as { pid: number }).pid,
  );

/**
 * Lets the process open one more file: enough for a connection, but not to start a process. Returns a
 * function that lifts the limit.
 */
function limitFiles(pid: number): () => void {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let limit = 0;
  for (let free = 0; free < 1; limit += 1) if (!open.has(limit)) free += 1;
  const set = (soft: string): void => void spawnSync("prlimit", ["--pid", String(pid), `--nofile=${soft}:`]);
  set(String(limit));
  return () => set("1024");
}
