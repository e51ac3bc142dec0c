/**
 * The command `npm run bench:costs`, described in README.md of this folder: measures how much CPU time a
 * point of a GraphQL document's cost takes, for documents of different kinds.
 */
import { parseArgs } from "node:util";
import { z } from "zod";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { createCostDocuments, type CostDocument } from "./cost-documents.ts";
import { processTreeCpuMicros } from "./machine.ts";

const { values } = parseArgs({
  options: {
    pid: { type: "string" },
    "database-pid": { type: "string" },
    "data-dir": { type: "string" },
    runs: { type: "string", default: "20" },
    only: { type: "string", default: "" },
  },
});
/** The ids of the measured processes: the service, and the PostgreSQL server if the service has one. */
const pids = [values.pid, values["database-pid"]].flatMap((text) =>
  text === undefined ? [] : [Number(text)],
);
const runs = Number(values.runs);
const demo = values["data-dir"] === undefined ? undefined : readDemoJsonFile(values["data-dir"]);
if (
  demo?.baseUrl === undefined ||
  values.pid === undefined ||
  ![...pids, runs].every((count) => Number.isInteger(count) && count > 0)
) {
  process.stderr.write(
    "Usage: npm run bench:costs -- --pid SERVICE_PID [--database-pid POSTGRES_PID] --data-dir DATA_DIR\n" +
      "         [--runs 20] [--only WORD]\n",
  );
  process.exit(2);
}
const { baseUrl, tokens } = demo;

const answerForm = z.object({
  data: z.record(z.string(), z.unknown()).optional(),
  errors: z.never().optional(),
  extensions: z.object({ cost: z.object({ requested: z.number() }) }),
});

async function run(query: string): Promise<z.infer<typeof answerForm>> {
  const response = await fetch(`${baseUrl}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens?.admin}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const text = await response.text();
  const answer = answerForm.safeParse(JSON.parse(text));
  if (!answer.success) throw new Error(`${query.slice(0, 300)}: ${text.slice(0, 300)}`);
  return answer.data;
}

const readCpuMicros = (): number => pids.reduce((sum, pid) => sum + processTreeCpuMicros(pid), 0);

/** Runs a document several times. Returns its cost in points and the CPU milliseconds of one run. */
async function measure({ write }: CostDocument): Promise<{ points: number; cpuMs: number }> {
  const { extensions } = await run(write(0));
  const before = readCpuMicros();
  for (let index = 1; index <= runs; index += 1) await run(write(index));
  const cpuMs = (readCpuMicros() - before) / runs / 1000;
  return { points: extensions.cost.requested, cpuMs };
}

const documents = await createCostDocuments(async (query) => (await run(query)).data);
process.stdout.write("| document | points | CPU ms | points per CPU ms |\n|---|---|---|---|\n");
for (const document of documents.filter(({ name }) => name.includes(values.only))) {
  const { points, cpuMs } = await measure(document);
  process.stdout.write(
    `| ${document.name} | ${points} | ${cpuMs.toFixed(1)} | ${(points / cpuMs).toFixed(1)} |\n`,
  );
}
