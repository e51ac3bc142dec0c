/** Compares the servers in all selected scenarios, one scenario after another. */
import { writeFileSync } from "node:fs";
import type { Arguments } from "./arguments.ts";
import { prepareDatabase } from "./database.ts";
import { measureScenario, type MeasurementPlan, type MeasurementRow } from "./measure.ts";
import { formatColdStarts, formatRows } from "./report.ts";
import type { BenchEnvironment } from "./environment.ts";
import { servers, yardstickName } from "./servers.ts";
import { createMeasuredServers, createScenarios, withServers } from "./subjects.ts";

export async function compareServers(
  { isQuick, counts, only, servers: serverNames, rate, jsonPath }: Arguments,
  bench: BenchEnvironment,
): Promise<void> {
  const { machine, placement, printResult, printStep } = bench;
  const sizes = `${counts.products} products, ${counts.carts} carts, ${counts.orders} orders`;
  printStep(`PostgreSQL with ${sizes}`);
  const database = await prepareDatabase(counts);
  try {
    const lists = await createScenarios(only, database);
    const chosen = servers.filter(({ name }) => name === yardstickName || serverNames.includes(name));
    const starting = {
      database,
      scenarios: lists,
      placement,
      startsPerServer: isQuick ? 1 : 3,
      onStep: printStep,
    };
    await withServers(chosen, starting, async (running) => {
      const rows: MeasurementRow[] = [];
      const plan = createPlan(isQuick, { postgresPid: database.postgresPid, rate, onStep: printStep });
      for (const scenario of lists)
        rows.push(
          ...(await measureScenario(
            scenario.name,
            await createMeasuredServers(scenario, running, printStep),
            plan,
          )),
        );
      const starts = running.map(({ server, coldStartMs }) => ({ server: server.name, coldStartMs }));
      printResult(`\n${machine}, ${sizes}\n\n${formatRows(rows)}\n\n${formatColdStarts(starts)}`);
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
    ? { rounds: 2, warmUpSeconds: 2, roundSeconds: 3, latencySeconds: 3 }
    : { rounds: 5, warmUpSeconds: 5, roundSeconds: 6, latencySeconds: 10 };
  return { ...lengths, ...rest };
}
