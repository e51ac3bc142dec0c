/**
 * Monitors that notices arrive. A received notice proves it; a notice that was sent but not received
 * disproves it; a notice that could not be sent does neither.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  createInterProcessNoticeLivenessCheck,
  type InterProcessNoticeLivenessCheck,
} from "#database/notices.ts";

interface Connection {
  readonly proof: InterProcessNoticeLivenessCheck;
  readonly sent: string[];
  readonly said: string[];
  /** Checks every 250 ms for the given time, each answered at once. */
  readonly beat: (forMs: number) => Promise<void>;
  readonly state: { isDeaf: boolean; canSend: boolean };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance", "setTimeout"] }));
afterEach(() => void vi.useRealTimers());

function connect(): Connection {
  const sent: string[] = [];
  const said: string[] = [];
  const state = { isDeaf: false, canSend: true };
  const proof = createInterProcessNoticeLivenessCheck({
    send: (payload) => {
      sent.push(payload);
      if (!state.canSend) return Promise.reject(new Error("away"));
      if (!state.isDeaf) proof.receive(payload, false);
      return Promise.resolve();
    },
    onNoticesLost: () => said.push("deaf"),
    onRegained: () => said.push("regained"),
  });
  const beat = async (forMs: number): Promise<void> => {
    for (let ms = 0; ms < forMs; ms += 250) {
      proof.onAnswer(performance.now());
      await vi.advanceTimersByTimeAsync(250);
    }
  };
  return { proof, sent, said, state, beat };
}

it("the notice monitor confirms delivery on each notice, and sends one every ten seconds", async () => {
  const { proof, sent, said, beat } = connect();
  expect(proof.isProven()).toBe(false);
  await beat(250);
  expect([proof.isProven(), sent.length]).toEqual([true, 1]);
  await beat(9_750);
  expect(sent).toHaveLength(1);
  await beat(20_250);
  expect([proof.isProven(), sent.length, new Set(sent).size]).toEqual([true, 4, 4]);
  expect(said).toEqual([]);
});

it("the notice monitor reports lost notices on a working connection once, and recovery", async () => {
  const { proof, said, state, beat } = connect();
  await beat(250);
  state.isDeaf = true;
  await beat(9_750);
  expect(proof.isProven()).toBe(true);
  await beat(1_500);
  expect([proof.isProven(), said]).toEqual([false, ["deaf"]]);
  await beat(60_000);
  expect([proof.isProven(), said]).toEqual([false, ["deaf"]]);
  state.isDeaf = false;
  await beat(12_000);
  expect([proof.isProven(), said]).toEqual([true, ["deaf", "regained"]]);
  state.isDeaf = true;
  await beat(12_000);
  expect([proof.isProven(), said]).toEqual([false, ["deaf", "regained", "deaf"]]);
});

it("the notice monitor tolerates failed sends for 30 seconds, and retries every second", async () => {
  const { proof, sent, said, state, beat } = connect();
  await beat(250);
  state.canSend = false;
  await beat(29_750);
  expect(proof.isProven()).toBe(true);
  expect(sent.length).toBeGreaterThan(15);
  await beat(500);
  expect([proof.isProven(), said]).toEqual([false, []]);
  state.canSend = true;
  await beat(2_000);
  // Notices sent meanwhile by others may be missing.
  expect([proof.isProven(), said]).toEqual([true, ["regained"]]);
});

it("the notice monitor judges only by the answer to a query sent after the notice's commit", async () => {
  const { proof, said, state } = connect();
  state.isDeaf = true;
  const before = performance.now();
  proof.onAnswer(before);
  await vi.advanceTimersByTimeAsync(60_000);
  proof.onAnswer(before + 999);
  expect(said).toEqual([]);
  proof.onAnswer(before + 1_000);
  expect(said).toEqual(["deaf"]);
});

it("the notice monitor starts again on a new connection, and ignores other processes' notices", async () => {
  const { proof, sent, state, beat } = connect();
  await beat(250);
  proof.reset();
  expect(proof.isProven()).toBe(false);
  state.isDeaf = true;
  await beat(250);
  expect(sent).toHaveLength(2);
  expect([
    proof.receive("proof:another", false),
    proof.receive(sent[0] ?? "", false),
    proof.receive("credential:key_1", false),
  ]).toEqual([true, true, false]);
  expect(proof.isProven()).toBe(false);
  expect([proof.receive(sent[1] ?? "", false), proof.isProven()]).toEqual([true, true]);
});

it("a test notice that arrives during a query proves nothing, and another follows at the next answer", async () => {
  const { proof, sent, state, beat } = connect();
  state.isDeaf = true;
  await beat(250);
  expect(proof.isTesting()).toBe(true);
  expect([proof.receive(sent[0] ?? "", true), proof.isProven(), proof.isTesting()]).toEqual([
    true,
    false,
    false,
  ]);
  await beat(250);
  expect(sent).toHaveLength(2);
  expect([proof.receive(sent[1] ?? "", false), proof.isProven()]).toEqual([true, true]);
});
