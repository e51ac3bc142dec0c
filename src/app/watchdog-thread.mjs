/**
 * The thread of the watchdog (watchdog.ts). Measures how long the event loop of the main thread is blocked.
 * Only the time in which this thread itself ran counts: while the machine sleeps or the whole process is
 * paused, neither thread runs. When the limit is reached, writes a line with the call stack of the main
 * thread to the log, and ends the process with SIGKILL, because the main thread cannot handle other signals.
 *
 * This file is JavaScript and not TypeScript, because Node would load its TypeScript compiler into the
 * thread, which would then need 33 MB of memory instead of 11 MB.
 */
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";

/** @type {import("./watchdog.ts").WatchdogThreadOptions} */
const { beats, debuggers, limitMs, checkMs, isLogged } = workerData;

function watch() {
  let lastBeats = Atomics.load(beats, 0);
  let lastCheckMs = performance.now();
  let stillMs = 0;
  const check = () => {
    const now = performance.now();
    const newBeats = Atomics.load(beats, 0);
    // If the last check was more than two intervals ago, this thread was paused too. At most two intervals
    // then count.
    const ranMs = Math.min(now - lastCheckMs, 2 * checkMs);
    stillMs = newBeats === lastBeats && Atomics.load(debuggers, 0) === 0 ? stillMs + ranMs : 0;
    lastBeats = newBeats;
    lastCheckMs = now;
    if (stillMs < limitMs) return;
    clearInterval(timer);
    void endProcess(newBeats);
  };
  const timer = setInterval(check, checkMs);
}

/** @param {number} lastBeats */
async function endProcess(lastBeats) {
  const stack = await readMainStack();
  // The main thread has continued while its stack was read, so the process is not ended.
  if (Atomics.load(beats, 0) !== lastBeats) return watch();
  if (isLogged) writeLogLine(stack);
  process.kill(process.pid, "SIGKILL");
}

/** @param {readonly string[]} stack */
function writeLogLine(stack) {
  const line = {
    level: "fatal",
    time: new Date().toISOString(),
    event: "watchdog",
    pid: process.pid,
    stack,
    msg:
      `The event loop has not run for ${limitMs / 1000} s (WATCHDOG_SECONDS), so the watchdog ends the ` +
      "process.",
  };
  try {
    writeSync(1, `${JSON.stringify(line)}\n`);
  } catch {
    // A failed write means that the program that reads the log has ended.
  }
}

/** Maximum number of functions in the log line. */
const framesMax = 20;
/** Milliseconds for which the main thread may take to reach a statement at which its stack can be read. */
const stackMsMax = 5_000;

/**
 * Returns the functions that the main thread is executing, innermost first. The result is empty if the main
 * thread executes no JavaScript, for example while it waits for a file.
 */
async function readMainStack() {
  const session = new Session();
  const urls = new Map();
  session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  const paused = new Promise((resolve) => {
    session.once("Debugger.paused", ({ params: { callFrames } }) =>
      resolve(
        callFrames
          .slice(0, framesMax)
          .map(
            ({ functionName, location: { scriptId, lineNumber } }) =>
              `${functionName === "" ? "anonymous" : functionName} (${urls.get(scriptId)}:${lineNumber + 1})`,
          ),
      ),
    );
  });
  try {
    session.connectToMainThread();
    const asked = session.post("Debugger.enable").then(() => session.post("Debugger.pause"));
    asked.catch(() => undefined);
    return await Promise.race([paused, sleep(stackMsMax, [])]);
  } catch {
    return [];
  } finally {
    session.disconnect();
  }
}

watch();
