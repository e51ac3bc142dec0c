/** Which pictures a demo product has: one for each of its first three colours, else one, and what fits beside it. */
import { createId } from "#foundation/ids.ts";
import { type CatalogEntry, demoCatalog, labelOf, locales, type Words } from "#demo/demo-data.ts";
import type { Row } from "#demo/rows/insert-rows.ts";
import { pictureName, picturePath, pictureSize } from "./pictures.ts";
import { hashOf } from "#demo/random.ts";

const picturesMax = 3;

export interface ProductMedia {
  readonly rows: readonly Row<"media">[];
  readonly idOfColour: ReadonlyMap<string, string>;
}

interface Picture {
  readonly colour: string | null;
  readonly view: "detail" | "scene" | null;
}

export function mediaOf(
  entry: CatalogEntry,
  { productId, merchantId, at }: { readonly productId: string; readonly merchantId: string; readonly at: Date },
): ProductMedia {
  const pictures = picturesOf(entry);
  const rows = pictures.map((picture, position) => ({
    id: createId("media", at.getTime()),
    merchantId,
    productId,
    type: "image" as const,
    url: picturePath(pictureName(entry.motif, entry.sku, ...[picture.colour, picture.view].filter((word) => word !== null))),
    alts: altsOf(entry, picture),
    width: pictureSize,
    height: pictureSize,
    position,
  }));
  const idOfColour = new Map(
    pictures.flatMap(({ colour, view }, position) => {
      const id = rows[position]?.id;
      return colour === null || view !== null || id === undefined ? [] : [[colour, id] as const];
    }),
  );
  return { rows, idOfColour };
}

function picturesOf(entry: CatalogEntry): Picture[] {
  const colours = entry.options?.find(({ code }) => code === "colour")?.choices.slice(0, picturesMax) ?? [];
  const shown: Picture[] = colours.length === 0 ? [{ colour: null, view: null }] : colours.map((colour) => ({ colour, view: null }));
  const colour = colours[0] ?? null;
  const beside: Picture[] = [
    { colour, view: "detail" },
    { colour, view: "scene" },
  ];
  // A voucher has no other side.
  const besideMax = entry.grams === null ? 0 : 1 + (hashOf(entry.sku) % 2);
  return [...shown, ...beside.slice(0, besideMax)].slice(0, picturesMax);
}

/** Japanese puts in brackets what others put behind a comma. */
function altsOf(entry: CatalogEntry, { colour, view }: Picture): Words {
  const additions = [colour === null ? undefined : labelOf("colours", colour), view === null ? undefined : demoCatalog().labels.views[view]];
  const alts = locales.flatMap((locale) => {
    const title = entry.title[locale];
    if (title === undefined) return [];
    const parts = additions.flatMap((addition) => addition?.[locale] ?? []);
    if (locale !== "ja") return [[locale, [title, ...parts].join(", ")]];
    return [[locale, parts.length === 0 ? title : `${title}（${parts.join("・")}）`]];
  });
  return Object.fromEntries(alts) as Words;
}
