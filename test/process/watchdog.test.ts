/** The watchdog ends a process whose event loop stands still, and no other process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { demoPlace } from "#test/support/copies.ts";
import { startService, temporaryFolder } from "#test/support/process.ts";

/** The last test starts a service, which takes long on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });

const root = new URL("../../", import.meta.url);

/**
 * Starts a process with a watchdog of one second, which runs the given code when it receives a line, and then
 * ends by itself.
 */
function startWatched(code: string, args: readonly string[] = []): ChildProcess {
  const file = join(temporaryFolder(), "watched.mjs");
  writeFileSync(
    file,
    `import { startEventLoopWatchdog } from ${JSON.stringify(String(new URL("src/app/watchdog.ts", root)))};
    import { createLog } from ${JSON.stringify(String(new URL("src/foundation/log.ts", root)))};
    const stop = startEventLoopWatchdog({ limitMs: 1_000, log: createLog("info") });
    const block = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
    process.stdin.once("data", async () => { ${code}; process.exit(0); });
    process.stdout.write("ready\\n");`,
  );
  const child = spawn(process.execPath, [...args, file], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function run(child: ChildProcess): Promise<{ ended: unknown; lines: string[] }> {
  const ended = once(child, "exit");
  const output = child.stdout === null ? Promise.resolve("") : text(child.stdout);
  child.stdin?.write("go\n");
  const [code, signal] = (await ended) as unknown[];
  return { ended: signal ?? code, lines: (await output).split("\n").filter((line) => line.startsWith("{")) };
}

it("the watchdog ends a process in an endless loop, and logs where the process is", async () => {
  const { ended, lines } = await run(startWatched("(function endless() { for (;;); })()"));
  expect(ended).toBe("SIGKILL");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      level: "fatal",
      time: expect.any(String) as unknown,
      event: "watchdog",
      pid: expect.any(Number) as unknown,
      stack: expect.arrayContaining([
        expect.stringMatching(/^endless \(file:.*watched\.mjs:5\)$/),
      ]) as unknown,
      msg: "The event loop has not run for 1 s (WATCHDOG_SECONDS), so the watchdog ends the process.",
    },
  ]);
});

it.each([
  ["waits", "await new Promise((go) => setTimeout(go, 2_000))", []],
  ["has a debugger", "block(2_000)", ["--inspect=0"]],
  ["has stopped its watchdog", "await stop(); block(2_000)", []],
])("the watchdog does not end a process that %s", async (_name, code, args) => {
  expect(await run(startWatched(code, args))).toEqual({ ended: 0, lines: [] });
});

it("the watchdog does not count the time in which the whole process was paused", async () => {
  const child = startWatched("await new Promise((go) => setTimeout(go, 100))");
  if (child.stdout !== null) await once(child.stdout, "data");
  child.kill("SIGSTOP");
  await sleep(2_000);
  child.kill("SIGCONT");
  expect(await run(child)).toEqual({ ended: 0, lines: [] });
});

it("WATCHDOG_SECONDS sets the watchdog of a service", async () => {
  const preloaded = join(temporaryFolder(), "endless.mjs");
  writeFileSync(preloaded, 'process.on("SIGUSR2", function endless() { for (;;); });');
  const { folder } = await demoPlace("pglite");
  const service = await startService({
    DATA_DIR: folder,
    WATCHDOG_SECONDS: "5",
    NODE_OPTIONS: `--import=${preloaded}`,
  });
  expect(await service.stop("SIGUSR2")).toEqual({ code: null, signal: "SIGKILL" });
  expect(service.output()).toContain('"event":"watchdog"');
});
