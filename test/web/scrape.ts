/** Parses the text of /metrics: each sample with its labels, and each metric's type. */

export interface Scrape {
  readonly text: string;
  /** Types by metric name. */
  readonly types: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** The sample with these labels, or the sum of all samples that have them; undefined if there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
  readonly series: number;
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function readScrape(text: string): Scrape {
  const lines = text.split("\n").filter((line) => line !== "");
  const types = new Map(
    lines.flatMap((line) =>
      line.startsWith("# TYPE ") ? [line.split(" ").slice(2, 4) as [string, string]] : [],
    ),
  );
  const samples = lines.filter((line) => !line.startsWith("#")).map(readSample);
  const labels = new Map(Array.from(types.keys(), (name) => [name, new Set<string>()]));
  for (const sample of samples) {
    const name = types.has(sample.name) ? sample.name : sample.name.replace(/_(?:bucket|sum|count)$/, "");
    for (const label of Object.keys(sample.labels)) if (label !== "le") labels.get(name)?.add(label);
  }
  return {
    text,
    types,
    labels,
    value: (name, wanted = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(wanted).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
    series: samples.length,
  };
}

function readSample(line: string): Sample {
  const [, name = "", inner = "", value = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === "") throw new Error(`This is no sample: ${line}`);
  const labels = Object.fromEntries(
    [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", said = ""]) => [label, said]),
  );
  return { name, labels, value: Number(value) };
}
