/** Compares the servers in all selected scenarios, one scenario after another. */
import { writeFileSync } from "node:fs";
import type { Arguments } from "./arguments.ts";
import { prepareDatabase } from "./database.ts";
import { measureScenario, type MeasurementPlan } from "./measure.ts";
import { alignMarkdownTable, type ReportRow, toResultCells } from "./report.ts";
import { updateResultTableFile } from "./result-table.ts";
import { scenarios } from "./scenarios.ts";
import type { BenchEnvironment } from "./environment.ts";
import { servers, yardstickName } from "./servers.ts";
import { createMeasuredServers, createScenarios, withServers } from "./subjects.ts";

export async function compareServers(
  { isQuick, counts, only, servers: serverNames, rate, jsonPath, tablePath, conditions }: Arguments,
  bench: BenchEnvironment,
): Promise<void> {
  const { machine, placement, printResult, printStep } = bench;
  const sizes = `${counts.products} products, ${counts.carts} carts, ${counts.orders} orders`;
  // Fails before the measurement if the file has no table.
  if (tablePath !== undefined) updateTable(tablePath, []);
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
      const rows: ReportRow[] = [];
      const measured = [new Date().toISOString().slice(0, 10), ...conditions].join(" ");
      const plan = createPlan(isQuick, { postgresPid: database.postgresPid, rate, onStep: printStep });
      for (const scenario of lists) {
        const subjects = await createMeasuredServers(scenario, running, printStep);
        for (const row of await measureScenario(scenario.name, subjects, plan)) {
          const { coldStartMs = Number.NaN } = running.find(({ server }) => server.name === row.server) ?? {};
          rows.push({ ...row, coldStartMs, measured });
        }
      }
      printResult(`\n${machine}, ${sizes}\n\n${alignMarkdownTable(toResultCells(rows))}`);
      if (tablePath !== undefined) updateTable(tablePath, rows);
      if (jsonPath !== undefined)
        writeFileSync(
          jsonPath,
          `${JSON.stringify({ machine, ...counts, quick: isQuick, rows }, undefined, 2)}\n`,
        );
    });
  } finally {
    await database.stop();
  }
}

const updateTable = (path: string, rows: readonly ReportRow[]): void =>
  updateResultTableFile(path, toResultCells(rows), {
    scenarios: Object.keys(scenarios),
    servers: servers.map(({ name }) => name),
  });

function createPlan(
  isQuick: boolean,
  rest: Pick<MeasurementPlan, "postgresPid" | "rate" | "onStep">,
): MeasurementPlan {
  const lengths = isQuick
    ? { rounds: 2, warmUpSeconds: 2, roundSeconds: 3, latencySeconds: 3 }
    : { rounds: 5, warmUpSeconds: 5, roundSeconds: 6, latencySeconds: 10 };
  return { ...lengths, ...rest };
}
