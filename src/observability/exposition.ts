/** The text that Prometheus reads: of this process, or of all that were started with it. */
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { addUp, type Exchange, type Gathered } from "./gathering.ts";

export interface ExpositionParts {
  /** What the service measures. */
  readonly registry: Registry;
  readonly readQueue: () => Promise<Registry>;
  /** Where there are others. */
  readonly exchange?: Exchange | undefined;
}

export interface Exposition {
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

export function createExposition({ registry, readQueue, exchange }: ExpositionParts): Exposition {
  const own = Registry.merge([registry, processRegistry()]);
  const crew = createCrewGauge();
  exchange?.give(() => own.getMetricsAsJSON());
  return {
    contentType: own.contentType,
    text: async () => {
      const [gathered, queue] = await Promise.all([exchange?.ask(), readQueue()]);
      crew.show(exchange === undefined ? { answered: 1, missing: 0 } : (gathered ?? { answered: 1, missing: 1 }));
      const measured = gathered === undefined ? own : await addUp(gathered.all);
      return Registry.merge([measured, crew.registry, queue]).metrics();
    },
  };
}

interface CrewGauge {
  readonly registry: Registry;
  readonly show: (processes: Pick<Gathered, "answered" | "missing">) => void;
}

function createCrewGauge(): CrewGauge {
  const registry = new Registry();
  const gauge = new Gauge({
    name: "commerce_processes",
    help: "Processes of this start: those whose metrics are in this answer, and those that did not give theirs within a second.",
    labelNames: ["state"],
    registers: [registry],
  });
  return {
    registry,
    show: ({ answered, missing }) => {
      gauge.set({ state: "answered" }, answered);
      gauge.set({ state: "missing" }, missing);
    },
  };
}

let processMetrics: Registry | undefined;

/** Memory, processor, event loop, garbage: of the process, however many services it runs. */
function processRegistry(): Registry {
  if (processMetrics === undefined) {
    processMetrics = new Registry();
    collectDefaultMetrics({ register: processMetrics, eventLoopMonitoringPrecision: 20 });
  }
  return processMetrics;
}
