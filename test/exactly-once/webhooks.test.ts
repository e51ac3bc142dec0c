/** Kills processes while they send webhooks: a short version of `npm run soak`. */
import { expect, it } from "vitest";
import { type Service, startService } from "#soak/service.ts";
import { runWebhooks, webhookEnvironment } from "#soak/webhooks.ts";
import { demoPlace, encryptionKeys } from "#test/support/copies.ts";

/** Several cold starts with requests in between, on a busy machine. */
const startsMsMax = 300_000;
const plan = { writers: 2, aheadMax: 20, arrivalsPerKill: 40, isHurried: true };
const environment = {
  ...webhookEnvironment,
  WEBHOOK_RETRY_SCALE: "0.0001",
  ENCRYPTION_KEYS: encryptionKeys,
  DEMO: "0",
};

it(
  "after each kill -9 of serve every event arrives, signed, and repeated deliveries are equal",
  async () => {
    await using service = await startService({ ...(await demoPlace("pglite")), environment });
    const { violations, counts } = await runWebhooks({
      ...plan,
      services: [service],
      isOver: ({ kills, writes }) => kills >= 1 && writes > 10,
    });
    expect(violations).toEqual([]);
    expect(Math.min(counts["events"] ?? 0, counts["refused"] ?? 0)).toBeGreaterThan(10);
  },
  startsMsMax,
);

it(
  "after each kill -9 of a gateway, a worker or both every event arrives, signed, and repeated " +
    "deliveries are equal",
  async () => {
    const demo = await demoPlace("postgres");
    const start = (command: "gateway" | "worker"): Promise<Service> =>
      startService({ ...demo, command, environment });
    const starting = [start("gateway"), start("worker")] as const;
    await using gateway = await starting[0];
    await using worker = await starting[1];
    const { violations, counts } = await runWebhooks({
      ...plan,
      services: [gateway, worker],
      isOver: ({ kills, writes }) => kills >= 2 && writes > 10,
    });
    expect(violations).toEqual([]);
    expect(Math.min(counts["events"] ?? 0, counts["refused"] ?? 0)).toBeGreaterThan(10);
  },
  startsMsMax,
);
