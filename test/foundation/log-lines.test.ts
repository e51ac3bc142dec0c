/**
 * Processes that log to one pipe do not interleave within lines, however much they write and however slowly
 * the pipe is read. Each line has its time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { createLog } from "#foundation/log.ts";

const logModule = new URL("../../src/foundation/log.ts", import.meta.url).href;
const [turns, linesOfTurn, processes] = [40, 60, 3];

/** Logs many lines of all lengths in each turn with two logs in turn, some with long error causes. */
const program = `
  import { createLog } from ${JSON.stringify(logModule)};
  const logs = [createLog("info"), createLog("info")];
  const name = process.argv[1];
  for (let turn = 0; turn < ${turns}; turn += 1) {
    for (let line = 0; line < ${linesOfTurn}; line += 1) {
      const number = turn * ${linesOfTurn} + line;
      const error = line === 7 ? { err: new Error("é".repeat(2000), { cause: new Error("ü".repeat(3000)) }) } : {};
      logs[number % 2].info({ name, number, text: "ä".repeat((number * 37) % 700), ...error }, "line");
    }
    await new Promise(setImmediate);
  }`;

it("lines of several processes on one pipe are complete and in each process's order", async () => {
  const one = `"$0" --input-type=module --eval "$1"`;
  const all = Array.from({ length: processes }, (_, index) => `${one} p${index} &`).join(" ");
  const shell = spawn("/bin/sh", ["-c", `{ ${all} wait; } | cat`, process.execPath, program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Without `cat` the output would be a socket, which does not guarantee atomic writes.
  const ended = once(shell, "exit");
  let written = "";
  // The slow reader makes the processes block in the middle of a write.
  for await (const chunk of shell.stdout.setEncoding("utf8")) {
    written += chunk as string;
    await sleep(1);
  }
  expect(await ended).toEqual([0, null]);

  const lines = written.trimEnd().split("\n");
  expect(lines.filter((line) => Buffer.byteLength(line) >= 4096)).toEqual([]);
  const parsed = lines.map((line) => JSON.parse(line) as { readonly name: string; readonly number: number });
  const numbers = Array.from({ length: turns * linesOfTurn }, (_, number) => number);
  for (let index = 0; index < processes; index += 1)
    expect(parsed.filter(({ name }) => name === `p${index}`).map(({ number }) => number)).toEqual(numbers);
});

it("a line has the time at which it was logged, also at the turn of a second", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const times = [
    "2026-11-26T06:59:59.000Z",
    "2026-11-26T06:59:59.999Z",
    "2026-11-26T07:00:00.007Z",
    "2026-11-26T06:59:58.050Z",
    "1969-12-31T23:59:59.001Z",
  ];
  for (const time of times) {
    vi.setSystemTime(time);
    log.info({}, "line");
  }
  vi.useRealTimers();
  expect(lines).toEqual(times.map((time) => `{"level":"info","time":"${time}","msg":"line"}\n`));
});
