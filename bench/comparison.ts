/** Compares the servers in all selected scenarios, one scenario after another. */
import { writeFileSync } from "node:fs";
import type { Arguments } from "./arguments.ts";
import { prepareDatabase } from "./database.ts";
import { measureScenario, type MeasurementPlan, type MeasurementRow } from "./measure.ts";
import { formatColdStarts, formatRows } from "./report.ts";
import type { BenchOutput } from "./bench.ts";
import { servers, yardstick } from "./servers.ts";
import { createMeasuredServers, createScenarios, withServers } from "./subjects.ts";

export async function compareServers(
  { isQuick, counts, only, servers: serverNames, rate, jsonPath }: Arguments,
  bench: BenchOutput,
): Promise<void> {
  const { machine, place, say, step } = bench;
  const sizes = `${counts.products} products, ${counts.carts} carts, ${counts.orders} orders`;
  step(`PostgreSQL with ${sizes}`);
  const database = await prepareDatabase(counts);
  try {
    const lists = await createScenarios(only, database);
    const chosen = servers.filter(({ name }) => name === yardstick || serverNames.includes(name));
    const starting = { database, scenarios: lists, place, times: isQuick ? 1 : 3, onStep: step };
    await withServers(chosen, starting, async (running) => {
      const rows: MeasurementRow[] = [];
      const plan = createPlan(isQuick, { postgresPid: database.postgresPid, rate, onStep: step });
      for (const scenario of lists)
        rows.push(
          ...(await measureScenario(
            scenario.name,
            await createMeasuredServers(scenario, running, step),
            plan,
          )),
        );
      const starts = running.map(({ server, coldStartMs }) => ({ server: server.name, coldStartMs }));
      say(`\n${machine}, ${sizes}\n\n${formatRows(rows)}\n\n${formatColdStarts(starts)}`);
      if (jsonPath !== undefined)
        writeFileSync(
          jsonPath,
          `${JSON.stringify({ machine, ...counts, quick: isQuick, starts, rows }, undefined, 2)}\n`,
        );
    });
  } finally {
    await database.stop();
  }
}

function createPlan(
  isQuick: boolean,
  rest: Pick<MeasurementPlan, "postgresPid" | "rate" | "onStep">,
): MeasurementPlan {
  const lengths = isQuick
    ? { rounds: 2, warmUpSeconds: 2, roundSeconds: 3, evenSeconds: 3 }
    : { rounds: 5, warmUpSeconds: 5, roundSeconds: 6, evenSeconds: 10 };
  return { ...lengths, ...rest };
}
