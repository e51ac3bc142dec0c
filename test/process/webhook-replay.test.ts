/** `webhook replay`: replays one delivery, or all failed deliveries of a period, by the service's rules. */
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { migratedFolder } from "#test/support/copies.ts";
import { runCommand } from "#test/support/process.ts";
import { createDispatchWorld } from "#test/webhooks/dispatch-world.ts";
import { deliveryRows, makeDeliveries } from "#test/webhooks/delivery-rows.ts";

const dayMs = 86_400_000;

it("`webhook replay` replays deliveries, reports counts, and refuses like the service", async () => {
  const folder = await migratedFolder();
  const withRows = async <Result>(
    work: (world: ReturnType<typeof createDispatchWorld>) => Promise<Result>,
  ): Promise<Result> => {
    const database = await openDatabase({ folder });
    try {
      return await work(createDispatchWorld(database));
    } finally {
      await database.close();
    }
  };
  const { endpointId, deliveryIds } = await withRows(async (world) => {
    const installed = await world.merchant();
    const { id } = await world.endpoint(installed);
    world.clock.advance(-3 * dayMs);
    const events = [await world.event(installed)];
    world.clock.advance(3 * dayMs - 1000);
    for (let count = 0; count < 3; count += 1) events.push(await world.event(installed));
    return { endpointId: id, deliveryIds: await makeDeliveries(world, events, { endpointId: id }) };
  });
  const run = async (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    runCommand(["webhook", "replay", ...args, "--json"], { DATA_DIR: folder, DEMO: "0" });
  const replay = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout) as unknown;
  };
  const [, first = ""] = deliveryIds;
  expect(await replay("--delivery", first, "--note", "By hand.")).toEqual({
    id: expect.stringMatching(/^whd_/) as unknown,
    replayOf: first,
  });
  const since = new Date(Date.now() - 4 * dayMs).toISOString();
  expect(await replay("--endpoint", endpointId, "--since", since)).toEqual({
    replayed: 3,
    skipped: { delivery_in_progress: 1 },
  });
  expect(await withRows((world) => deliveryRows(world))).toHaveLength(8);

  expect(await run("--delivery", "whd_none")).toEqual({
    code: 1,
    stdout: "",
    stderr: "There is no such webhook delivery.\n",
  });
});
