/** When the passes of the webhook dispatcher run, on a simulated clock. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createDispatchPasses } from "#webhooks/dispatch/passes.ts";
import type { WebhookDispatchRoundOptions } from "#webhooks/dispatch/round.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

interface FakeRound {
  /** The milliseconds at which rounds have run, counted from the creation of the passes. */
  readonly ranAtMs: number[];
  readonly options: WebhookDispatchRoundOptions[];
  claimed: number;
  isActive: boolean;
  error: Error | undefined;
}

function createPasses() {
  const startMs = performance.now();
  const round: FakeRound = { ranAtMs: [], options: [], claimed: 0, isActive: true, error: undefined };
  const errors: unknown[] = [];
  const passes = createDispatchPasses(
    {
      run: (options) => {
        round.ranAtMs.push(performance.now() - startMs);
        round.options.push(options);
        return round.error === undefined ? Promise.resolve(round.claimed) : Promise.reject(round.error);
      },
      hasActiveEndpoints: () => round.isActive,
    },
    (error) => errors.push(error),
  );
  return { passes, round, errors };
}

it("while deliveries are due but none can be claimed, the pauses between passes grow to 80 ms", async () => {
  const { passes, round } = createPasses();
  passes.start();
  passes.request({ isNotified: true });
  await vi.advanceTimersByTimeAsync(300);
  expect(round.ranAtMs).toEqual([0, 20, 60, 140, 220, 300]);
  round.options.at(-1)?.onAttemptEnded();
  await vi.advanceTimersByTimeAsync(60);
  expect(round.ranAtMs.slice(6)).toEqual([320, 360]);
  passes.request({ isNotified: true });
  await vi.advanceTimersByTimeAsync(20);
  expect(round.ranAtMs.slice(8)).toEqual([360, 380]);
});

it("while passes claim deliveries, the next one runs after 20 ms; without due deliveries, none runs", async () => {
  const { passes, round } = createPasses();
  passes.start();
  round.claimed = 3;
  passes.request();
  await vi.advanceTimersByTimeAsync(60);
  expect(round.ranAtMs).toEqual([0, 20, 40, 60]);
  round.isActive = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(round.ranAtMs.slice(4)).toEqual([80]);
});

it("after a failed pass, the next one runs after a second, also if an attempt ends before", async () => {
  const { passes, round, errors } = createPasses();
  passes.start();
  passes.request();
  round.error = new Error("The database is not available.");
  await vi.advanceTimersByTimeAsync(40);
  round.options.at(-1)?.onAttemptEnded();
  passes.request({ isNotified: true });
  await vi.advanceTimersByTimeAsync(999);
  expect([round.ranAtMs, errors]).toEqual([[0, 40], [round.error]]);
  round.error = undefined;
  await vi.advanceTimersByTimeAsync(1);
  expect(round.ranAtMs.slice(2)).toEqual([1_040]);
  expect(round.options.at(-1)?.wasNotified).toBe(true);
});

it("a stopped dispatcher runs no pass", async () => {
  const { passes, round } = createPasses();
  passes.request();
  passes.start();
  passes.request();
  await vi.advanceTimersByTimeAsync(10);
  await passes.stop();
  passes.request({ isNotified: true });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(round.ranAtMs).toEqual([0]);
});
