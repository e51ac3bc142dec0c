/**
 * Draws an SVG chart of the cost of reads for several data sizes: a panel for each kind of cost, with
 * logarithmic axes. The colours follow the light or dark mode of the reader's browser.
 */
export interface ReadCost {
  readonly size: number;
  readonly scenario: string;
  readonly server: string;
  readonly serverCpuMicros: number;
  readonly postgresCpuMicros: number;
  /** Pages of 8 KiB that PostgreSQL read per request, from memory or disk. */
  readonly pages: number;
}

interface Panel {
  readonly title: string;
  readonly valueOf: (cost: ReadCost) => number;
}

const panels: readonly Panel[] = [
  { title: "Server, µs of CPU a request", valueOf: ({ serverCpuMicros }) => serverCpuMicros },
  { title: "PostgreSQL, µs of CPU a request", valueOf: ({ postgresCpuMicros }) => postgresCpuMicros },
  { title: "PostgreSQL, pages a request", valueOf: ({ pages }) => pages },
];

const [panelWidth, panelHeight, gap, top, left, bottom] = [250, 260, 62, 44, 58, 92];
const width = left + panels.length * panelWidth + (panels.length - 1) * gap + 20;
const height = top + panelHeight + bottom;

const style = `
    text { font: 12px system-ui, sans-serif; fill: #333; }
    .title { font-weight: 600; }
    .paper { fill: #fff; }
    .grid { stroke: #ddd; }
    .axis { stroke: #888; }
    .line { stroke-width: 2; }
    .yardstick { stroke-dasharray: 5 4; opacity: 0.75; }
    .c0 { stroke: #1b6ac9; fill: #1b6ac9; }
    .c1 { stroke: #c2410c; fill: #c2410c; }
    .c2 { stroke: #15803d; fill: #15803d; }
    .c3 { stroke: #7e22ce; fill: #7e22ce; }
    .c4 { stroke: #a16207; fill: #a16207; }
    .c5 { stroke: #0e7490; fill: #0e7490; }
    .line { fill: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #ddd; }
      .paper { fill: #16181d; }
      .grid { stroke: #33373f; }
      .axis { stroke: #8b919c; }
      .c0 { stroke: #6ba8f2; fill: #6ba8f2; }
      .c1 { stroke: #fb8a5b; fill: #fb8a5b; }
      .c2 { stroke: #5fd28a; fill: #5fd28a; }
      .c3 { stroke: #c792ea; fill: #c792ea; }
      .c4 { stroke: #e9b44c; fill: #e9b44c; }
      .c5 { stroke: #4fc3d9; fill: #4fc3d9; }
      .line { fill: none; }
    }`;

export function drawGrowth(costs: readonly ReadCost[]): string {
  const scenarios = [...new Set(costs.map(({ scenario }) => scenario))];
  const drawn = panels.map((panel, index) =>
    drawPanel(panel, { costs, scenarios, x: left + index * (panelWidth + gap) }),
  );
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">
  <title>What a read costs as products, carts and orders grow</title>
  <style>${style}
  </style>
  <rect class="paper" width="${width}" height="${height}"/>
${[...drawn, drawLegend(scenarios)].join("\n")}
</svg>
`;
}

interface Paper {
  readonly costs: readonly ReadCost[];
  readonly scenarios: readonly string[];
  readonly x: number;
}

/** A logarithmic scale: converts a value into a coordinate. */
interface Scale {
  readonly powers: readonly number[];
  readonly position: (value: number) => number;
}

function scaleOf(values: readonly number[], from: number, to: number): Scale {
  const logs = values.filter((value) => value > 0).map((value) => Math.log10(value));
  const low = Math.floor(Math.min(...logs, Infinity));
  const high = Math.max(low + 1, Math.ceil(Math.max(...logs, -Infinity)));
  if (!Number.isFinite(low)) return { powers: [], position: () => from };
  return {
    powers: Array.from({ length: high - low + 1 }, (_, index) => low + index),
    position: (value) => from + ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low)) * (to - from),
  };
}

function drawPanel({ title, valueOf }: Panel, { costs, scenarios, x }: Paper): string {
  const base = top + panelHeight;
  const across = scaleOf(
    costs.map(({ size }) => size),
    x,
    x + panelWidth,
  );
  const up = scaleOf(costs.map(valueOf), base, top);
  const parts = [
    `<text class="title" x="${x}" y="${top - 18}">${title}</text>`,
    ...up.powers.map((power) => {
      const y = round(up.position(10 ** power));
      const line = `<line class="grid" x1="${x}" x2="${x + panelWidth}" y1="${y}" y2="${y}"/>`;
      return `${line}<text x="${x - 8}" y="${y + 4}" text-anchor="end">${label(power)}</text>`;
    }),
    ...across.powers.map((power) => {
      const position = round(across.position(10 ** power));
      const line = `<line class="grid" x1="${position}" x2="${position}" y1="${top}" y2="${base}"/>`;
      return `${line}<text x="${position}" y="${base + 18}" text-anchor="middle">${label(power)}</text>`;
    }),
    `<path class="axis" fill="none" d="M${x} ${top}V${base}H${x + panelWidth}"/>`,
    `<text x="${x + panelWidth / 2}" y="${base + 36}" text-anchor="middle">products, carts and orders each</text>`,
    ...scenarios.flatMap((scenario, index) =>
      ["yardstick", "ours"].map((server) => {
        const points = costs
          .filter((cost) => cost.scenario === scenario && cost.server === server)
          .map((cost) => ({
            cost,
            x: round(across.position(cost.size)),
            y: round(up.position(valueOf(cost))),
          }));
        const radius = server === "ours" ? 3.5 : 2;
        const dots = points.map(({ cost, x: cx, y: cy }) => {
          const name = `<title>${scenario}, ${server}, ${cost.size}: ${valueOf(cost).toFixed(1)}</title>`;
          return `<circle class="c${index}" cx="${cx}" cy="${cy}" r="${radius}">${name}</circle>`;
        });
        const path = points.map((point) => `${point.x},${point.y}`).join(" ");
        const line = `<polyline class="c${index} line ${server}" points="${path}"/>`;
        return [line, ...dots].join("");
      }),
    ),
  ];
  return `  <g>\n${parts.map((part) => `    ${part}`).join("\n")}\n  </g>`;
}

const legendStep = 110;

function drawLegend(scenarios: readonly string[]): string {
  const y = height - 18;
  const items = scenarios.map((scenario, index) => {
    const x = left + index * legendStep;
    const line = `<line class="c${index} line" x1="${x}" x2="${x + 24}" y1="${y - 4}" y2="${y - 4}"/>`;
    return `${line}<text x="${x + 30}" y="${y}">${scenario}</text>`;
  });
  const x = left + scenarios.length * legendStep;
  return `  <g>${items.join("")}<text x="${x}" y="${y}">solid: ours, dashed: the yardstick</text></g>`;
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const plainPowers: Readonly<Record<number, string>> = { 0: "1", 1: "10", 2: "100", 3: "1000" };
function label(power: number): string {
  const digits = Array.from(String(Math.abs(power)), (digit) => superscripts.charAt(Number(digit)));
  return plainPowers[power] ?? `10${power < 0 ? "⁻" : ""}${digits.join("")}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
