/** Where in the map one is, as the address says: `#Order`, `#area:Orders`, or nothing for the overview. */
import { areaNames } from "./areas.ts";
import type { MapType, TypeMap } from "./type-map.ts";

export type Place =
  | { readonly kind: "overview" | "area" | "missing"; readonly title: string }
  | { readonly kind: "type"; readonly title: string; readonly type: MapType };

export function placeOf(hash: string, map: TypeMap): Place {
  const name = decoded(hash.replace(/^#/, ""));
  if (name === "") return { kind: "overview", title: "All areas" };
  const area = areaNames.find((found) => name === `area:${found}`);
  if (area !== undefined) return { kind: "area", title: area };
  const type = map.get(name);
  return type === undefined ? { kind: "missing", title: name } : { kind: "type", title: name, type };
}

/** Somebody may have cut the address off in the middle of a character. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
