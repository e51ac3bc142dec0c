/** `npm run bench`: see README.md beside it. */
import { mkdirSync } from "node:fs";
import { type Arguments, BadArgument, help, type ArgumentChoices, readArguments } from "./arguments.ts";
import type { BenchOutput } from "./bench.ts";
import { compareServers } from "./comparison.ts";
import { measureGrowth } from "./growth.ts";
import { describeMachine, findCores, pinThisProcess } from "./machine.ts";
import { scenarios } from "./scenarios.ts";
import { servers } from "./servers.ts";

const known: ArgumentChoices = {
  scenarios: Object.keys(scenarios),
  servers: servers.map(({ name }) => name),
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const step = (text: string): void => void process.stderr.write(`· ${text}\n`);

async function main(asked: Arguments): Promise<void> {
  const cores = findCores();
  if (cores !== undefined) pinThisProcess(cores);
  const machine = describeMachine(cores);
  step(machine);
  const bench: BenchOutput = {
    machine,
    place: { cores, nodeOptions: profileOptions(asked.profileFolder) },
    say,
    step,
  };
  const { mode } = asked;
  if (mode.name === "growth") await measureGrowth({ ...asked, sizes: mode.sizes }, bench);
  else await compareServers(asked, bench);
}

function profileOptions(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  mkdirSync(folder, { recursive: true });
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** What was started ends with this process: the servers by their pid, PostgreSQL by itself. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const asked = readArguments(process.argv.slice(2), known);
  if (asked === undefined) say(help(known));
  else await main(asked);
} catch (error) {
  process.stderr.write(
    `${error instanceof BadArgument ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = error instanceof BadArgument ? 2 : 1;
}
