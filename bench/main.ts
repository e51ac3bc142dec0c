/** The command `npm run bench`, described in README.md of this folder. */
import { mkdirSync } from "node:fs";
import { type Arguments, InvalidArgument, help, type ArgumentChoices, readArguments } from "./arguments.ts";
import type { BenchEnvironment } from "./environment.ts";
import { measureCatalogNotices } from "./catalog-notices.ts";
import { compareServers } from "./comparison.ts";
import { measureGrowth } from "./growth.ts";
import { describeMachine, findCores, pinThisProcess } from "./machine.ts";
import { scenarios } from "./scenarios.ts";
import { measureSearchScale } from "./search-scale.ts";
import { servers } from "./servers.ts";

const known: ArgumentChoices = {
  scenarios: Object.keys(scenarios),
  servers: servers.map(({ name }) => name),
};

const printResult = (text: string): void => void process.stdout.write(`${text}\n`);
const printStep = (text: string): void => void process.stderr.write(`· ${text}\n`);

async function main(parsed: Arguments): Promise<void> {
  const cores = findCores();
  if (cores !== undefined) pinThisProcess(cores);
  const machine = describeMachine(cores);
  printStep(machine);
  const bench: BenchEnvironment = {
    machine,
    placement: { cores, nodeOptions: profileOptions(parsed.profileFolder) },
    printResult,
    printStep,
  };
  const { mode } = parsed;
  if (mode.name === "growth") await measureGrowth({ ...parsed, sizes: mode.sizes }, bench);
  else if (mode.name === "searches") await measureSearchScale({ ...parsed, sizes: mode.sizes }, bench);
  else if (mode.name === "notices") await measureCatalogNotices(parsed, bench);
  else await compareServers(parsed, bench);
}

function profileOptions(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  mkdirSync(folder, { recursive: true });
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** Ends this process on a signal. Exit handlers then kill the servers, and PostgreSQL ends by itself. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const parsed = readArguments(process.argv.slice(2), known);
  if (parsed === undefined) printResult(help(known));
  else await main(parsed);
} catch (error) {
  process.stderr.write(
    `${error instanceof InvalidArgument ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = error instanceof InvalidArgument ? 2 : 1;
}
