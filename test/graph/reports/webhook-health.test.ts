/**
 * webhookHealthReport: counts and durations calculated by hand, over time and per endpoint, of the caller's
 * own endpoints only.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { createId } from "#foundation/ids.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";

const figures =
  "attempts successes failures successRate p50DurationMs p95DurationMs failuresByCode { code count }";
const none = {
  attempts: 0,
  successes: 0,
  failures: 0,
  successRate: null,
  p50DurationMs: null,
  p95DurationMs: null,
  failuresByCode: [],
};

interface Place {
  readonly endpoint: string;
  readonly installation: string;
}

/** Creates an endpoint with one delivery per given attempt. */
async function makeAttempts(
  { database }: World,
  merchantId: string,
  attempts: readonly { readonly at: string; readonly ms: number; readonly code?: string }[],
): Promise<Place> {
  const { id: installation } = await database.db
    .selectFrom("installation")
    .select("id")
    .where("merchantId", "=", merchantId)
    .orderBy("id")
    .executeTakeFirstOrThrow();
  const endpoint = createId("webhookEndpoint");
  const rows = attempts.flatMap(({ at, ms, code }) => {
    const [event, delivery] = [createId("event"), createId("webhookDelivery")];
    return [
      `insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
        snapshot, thin, occurred_at, fanned_out_at)
        values ('${event}', '${merchantId}', 'order.placed', 1, 'order', 'x', 1, '{}', '{}', '${at}',
        '${at}')`,
      `insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id, status,
        attempt_count, created_at)
        values ('${delivery}', '${merchantId}', '${installation}', '${event}', '${endpoint}', 'succeeded', 1,
        '${at}')`,
      `insert into webhook_attempt (id, delivery_id, number, started_at, duration_ms, error_code)
        values ('${createId("webhookAttempt")}', '${delivery}', 1, '${at}', ${ms},
        ${code === undefined ? "null" : `'${code}'`})`,
    ];
  });
  const url = `https://${endpoint.slice(4)}.example/`;
  await database.script((run) =>
    run(`begin; insert into webhook_endpoint (id, merchant_id, installation_id, url, url_normalized, event_types, created_at, updated_at)
      values ('${endpoint}', '${merchantId}', '${installation}', '${url}', '${url}', '{*}', now(), now());
      insert into webhook_endpoint_health (endpoint_id, installation_id, tokens_at) values ('${endpoint}', '${installation}', now()); ${rows.join("; ")}; commit`),
  );
  return { endpoint, installation };
}

describe("webhookHealthReport", () => {
  const world = useWorld();
  let one: Place;
  let two: Place;
  let foreign: Place;
  const ask = async (args: string, selection: string, token = "analyst"): Promise<unknown> => {
    const { body } = await world().graphql(`{ webhookHealthReport(${args}) { ${selection} } }`, { token });
    return body.errors ?? body.data.webhookHealthReport;
  };

  beforeAll(async () => {
    const { merchants } = world().demo;
    one = await makeAttempts(world(), merchants.first.id, [
      { at: "2033-01-01T00:30:00Z", ms: 10 },
      { at: "2033-01-01T00:40:00Z", ms: 20 },
      { at: "2033-01-01T02:00:00Z", ms: 15_000, code: "timeout" },
    ]);
    two = await makeAttempts(world(), merchants.first.id, [
      { at: "2033-01-01T00:59:59.999Z", ms: 30, code: "http_status" },
      { at: "2033-01-01T02:10:00Z", ms: 40, code: "http_status" },
      { at: "2033-01-02T00:00:00Z", ms: 1, code: "dns" },
    ]);
    foreign = await makeAttempts(world(), merchants.second.id, [{ at: "2033-01-01T00:30:00Z", ms: 10 }]);
  });

  const day = 'from: "2033-01-01", to: "2033-01-01", interval: HOUR';
  const all = {
    attempts: 5,
    successes: 2,
    failures: 3,
    successRate: 0.4,
    p50DurationMs: 30,
    p95DurationMs: 15_000,
    failuresByCode: [
      { code: "HTTP_STATUS", count: 2 },
      { code: "TIMEOUT", count: 1 },
    ],
  };

  it("counts attempts and failures per hour, including hours without attempts", async () => {
    const { totals, buckets } = (await ask(day, `totals { ${figures} } buckets { startsAt ${figures} }`)) as {
      totals: unknown;
      buckets: unknown[];
    };
    expect(totals).toEqual(all);
    expect(buckets).toHaveLength(24);
    const first = {
      attempts: 3,
      successes: 2,
      failures: 1,
      successRate: 2 / 3,
      p50DurationMs: 20,
      p95DurationMs: 30,
    };
    expect(buckets.slice(0, 2)).toEqual([
      { startsAt: "2033-01-01T00:00:00.000Z", ...first, failuresByCode: [{ code: "HTTP_STATUS", count: 1 }] },
      { startsAt: "2033-01-01T01:00:00.000Z", ...none },
    ]);
  });

  it("counts per endpoint, with the most failures first", async () => {
    expect(
      await ask(day, "endpoints { endpointId endpoint { id } attempts failures p50DurationMs }"),
    ).toEqual({
      endpoints: [
        {
          endpointId: two.endpoint,
          endpoint: { id: two.endpoint },
          attempts: 2,
          failures: 2,
          p50DurationMs: 30,
        },
        {
          endpointId: one.endpoint,
          endpoint: { id: one.endpoint },
          attempts: 3,
          failures: 1,
          p50DurationMs: 20,
        },
      ],
    });
  });

  it("is limited to one endpoint or to one installation by an argument", async () => {
    expect(
      await ask(`${day}, endpointId: "${one.endpoint}"`, "totals { attempts } endpoints { endpointId }"),
    ).toEqual({
      totals: { attempts: 3 },
      endpoints: [{ endpointId: one.endpoint }],
    });
    expect(await ask(`${day}, installationId: "${one.installation}"`, "totals { attempts }")).toEqual({
      totals: { attempts: 5 },
    });
    expect(
      await ask(`${day}, installationId: "ins_00000000000000000000000000"`, `totals { ${figures} }`),
    ).toEqual({ totals: none });
  });

  it("shows a merchant's analyst only that merchant, and the platform all merchants", async () => {
    expect(
      await ask(`${day}, endpointId: "${foreign.endpoint}"`, "totals { attempts } endpoints { endpointId }"),
    ).toEqual({
      totals: { attempts: 0 },
      endpoints: [],
    });
    expect(await ask(day, "totals { attempts }", "operator")).toEqual({ totals: { attempts: 6 } });
  });
});
