/**
 * Renders the demo's product pictures as SVG. The name alone determines the picture. A name has the form
 * `motif-sku-colour-view`, but every other text gives a picture too. The SVG contains no text of the name, so
 * that a URL cannot insert markup into it.
 */
import { pictureDrawings } from "./picture-drawings.ts";
import { hashTextToNumber } from "#demo/random.ts";

export type DemoPictureMotif = keyof typeof pictureDrawings;

export const pictureMotifs = Object.keys(pictureDrawings) as DemoPictureMotif[];

/** The width and height of every picture, in pixels. */
export const pictureSizePixels = 800;

/**
 * Creates the name of a picture. The arguments after the motif are the SKU and, optionally, the colour and
 * the view (`detail` or `scene`).
 */
export function createDemoPictureName(motif: DemoPictureMotif, ...words: readonly string[]): string {
  return [motif, ...words].join("-").toLowerCase();
}

export function getDemoPicturePath(name: string): string {
  return `/media/demo/${name}.svg`;
}

/** The RGB value of each colour code of catalog.json. */
const colours: Readonly<Record<string, string>> = {
  moss: "#5f7a4b",
  ochre: "#cf9436",
  slate: "#66727f",
  midnight: "#2f4468",
  brick: "#a8503c",
  sand: "#c9b18c",
  black: "#3a3d42",
  white: "#e9e6df",
  natural: "#b98d5f",
  sage: "#97a98a",
  terracotta: "#c4704f",
  sky: "#7fa9c9",
  berry: "#8a3f5f",
  mustard: "#d3aa3a",
};
const colourNames = Object.keys(colours);

const backgrounds = [
  ["#f6ead8", "#e7d3b5"],
  ["#e6eef2", "#c6d7df"],
  ["#ecefe2", "#cfd8bd"],
  ["#f5e4de", "#e3c3b8"],
  ["#ebe7f1", "#cfc6dd"],
  ["#e4f0ec", "#bfd9cf"],
] as const;

export function renderDemoPicture(name: string): string {
  // The hash ignores the view (`detail` or `scene`) in the name, so that all pictures of a product have the
  // same colour and background.
  const hash = hashTextToNumber(name.replace(/-(?:detail|scene)$/, ""));
  const parts = name.split("-");
  const motif = findMotif(name, hash);
  const colour =
    colours[
      parts.find((part) => Object.hasOwn(colours, part)) ?? colourNames[hash % colourNames.length] ?? "slate"
    ] ?? "#66727f";
  const [above, below] = backgrounds[(hash >>> 8) % backgrounds.length] ?? backgrounds[0];
  const view = parts.at(-1);
  const shapes = applyColours(pictureDrawings[motif], colour);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${pictureSizePixels}" ` +
      `height="${pictureSizePixels}" viewBox="0 0 800 800" role="img">`,
    `<defs><linearGradient id="g" x1="0" y1="0" x2="0" y2="1"><stop offset="0" ` +
      `stop-color="${above}"/><stop offset="1" stop-color="${below}"/></linearGradient></defs>`,
    `<rect width="800" height="800" fill="url(#g)"/>`,
    view === "scene"
      ? renderLandscape(hash, below)
      : `<circle cx="400" cy="400" r="${300 + (hash % 40)}" fill="#fff" opacity="0.35"/>`,
    `<ellipse cx="400" cy="${view === "detail" ? 760 : 654}" rx="250" ry="26" fill="#000" opacity="0.10"/>`,
    `<g transform="${viewTransforms[view ?? ""] ?? "translate(0 0)"}">${shapes}</g>`,
    "</svg>",
  ].join("");
}

const viewTransforms: Readonly<Record<string, string>> = {
  detail: "translate(-290 -190) scale(1.7)",
  scene: "translate(120 190) scale(0.7)",
};

/**
 * Returns the motif with which the name begins; the longest if there are several. If the name begins with no
 * motif, returns a motif chosen by the hash of the name.
 */
function findMotif(name: string, hash: number): DemoPictureMotif {
  const named = pictureMotifs
    .filter((motif) => name.startsWith(`${motif}-`))
    .toSorted((a, b) => b.length - a.length);
  return named[0] ?? pictureMotifs[hash % pictureMotifs.length] ?? "box";
}

/**
 * Replaces the colour placeholders of a drawing: some by shades of the given colour, the others by fixed
 * colours.
 */
function applyColours(drawing: string, colour: string): string {
  return drawing
    .replaceAll("{main}", colour)
    .replaceAll("{dark}", mixColours(colour, 0x1d2026, 0.32))
    .replaceAll("{light}", mixColours(colour, 0xffffff, 0.38))
    .replaceAll("{ink}", "#3b3a39")
    .replaceAll("{paper}", "#fbf8f2")
    .replaceAll("{steel}", "#c3cad1")
    .replaceAll("{wood}", "#b98d5f")
    .replaceAll("{glow}", "#ffd98a");
}

function mixColours(colour: string, other: number, share: number): string {
  const from = Number.parseInt(colour.slice(1), 16);
  const channel = (shift: number): string =>
    Math.round(((from >> shift) & 255) * (1 - share) + ((other >> shift) & 255) * share)
      .toString(16)
      .padStart(2, "0");
  return `#${channel(16)}${channel(8)}${channel(0)}`;
}

/** Renders the background of a picture with the view `scene`: a sun and two ranges of hills. */
function renderLandscape(hash: number, colour: string): string {
  const rise = hash % 90;
  const hills = [
    `<circle cx="${180 + (hash % 440)}" cy="210" r="70" fill="#fff" opacity="0.7"/>`,
    `<path d="M0 ${470 - rise}Q200 ${360 + rise} 400 ${460 - rise}T800 ` +
      `${430 + (rise >> 1)}V800H0Z" fill="${mixColours(colour, 0x3d5a52, 0.3)}"/>`,
    `<path d="M0 ${560 + (rise >> 2)}Q240 ${500 - (rise >> 1)} 480 570T800 540V800H0Z" ` +
      `fill="${mixColours(colour, 0x3d5a52, 0.5)}"/>`,
  ];
  return hills.join("");
}
