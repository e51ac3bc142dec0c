/**
 * Generates many products for query plans and timings, the same in every run: shops in three languages with
 * realistic word frequencies.
 */
import type { MerchantSpec, ProductSpec } from "./catalogue.ts";

const kinds = {
  en: [
    "running shoes",
    "hiking boots",
    "rain jacket",
    "wool sweater",
    "coffee grinder",
    "desk lamp",
    "water bottle",
    "travel backpack",
    "yoga mat",
    "kitchen knife",
  ],
  de: [
    "Laufschuhe",
    "Wanderstiefel",
    "Regenjacke",
    "Wollpullover",
    "Kaffeemühle",
    "Schreibtischlampe",
    "Trinkflasche",
    "Reiserucksack",
    "Yogamatte",
    "Küchenmesser",
  ],
  ja: [
    "ランニングシューズ",
    "登山靴",
    "レインジャケット",
    "ウールセーター",
    "コーヒーミル",
    "デスクランプ",
    "水筒",
    "旅行リュック",
    "ヨガマット",
    "包丁",
  ],
};
const colours = {
  en: ["red", "blue", "green", "black", "white", "grey", "yellow"],
  de: ["rot", "blau", "grün", "schwarz", "weiß", "grau", "gelb"],
  ja: ["赤", "青", "緑", "黒", "白", "灰色", "黄色"],
};
const syllables = ["ka", "lo", "mir", "ten", "sol", "vra", "nim", "dor", "pel", "qui", "zan", "ust"];
const brands = Array.from({ length: 60 }, (_, index) => capital(name(index * 37 + 11)));
const slugs = [
  "shoes",
  "boots",
  "jackets",
  "sweaters",
  "coffee",
  "lamps",
  "bottles",
  "bags",
  "yoga",
  "knives",
];

export function generatedMerchants(count: number): MerchantSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    slug: `shop-${index}`,
    locale: index % 2 === 0 ? "en" : "de",
    markets: [
      { countries: ["DE", "AT", "FR"], currency: "EUR", locale: "de" },
      { countries: ["US"], currency: "USD", locale: "en" },
    ],
    categories: [
      { slug: "all", names: { en: "Everything", de: "Alles" } },
      ...slugs.map((slug, kind) => ({
        slug,
        parent: "all",
        names: { en: kinds.en[kind] ?? "", de: kinds.de[kind] ?? "", ja: kinds.ja[kind] ?? "" },
      })),
    ],
  }));
}

export function* generatedProducts(count: number, merchants: number): Generator<ProductSpec> {
  for (let index = 0; index < count; index += 1) {
    const pick = (salt: number, bound: number): number => hash(index * 31 + salt) % bound;
    const [kind, colour, model] = [pick(1, 10), pick(2, 7), capital(name(pick(3, 2000)))];
    const brand = brands[Math.floor(brands.length * (pick(4, 1000) / 1000) ** 2)] ?? null;
    const texts = (["en", "de", "ja"] as const).slice(0, pick(5, 10) === 0 ? 3 : 2).map((locale) => {
      const noun = kinds[locale][kind] ?? "";
      const words = Array.from({ length: 30 }, (_, place) =>
        name(Math.floor(3000 * (pick(10 + place, 1000) / 1000) ** 3)),
      ).join(" ");
      return [
        locale,
        {
          title: `${model} ${colours[locale][colour] ?? ""} ${noun}`,
          summary: `${noun} – ${brand ?? ""}`,
          description: `${words}. ${noun}.`,
        },
      ] as const;
    });
    yield {
      id: `p${String(index).padStart(7, "0")}`,
      merchant: `m${pick(6, merchants)}`,
      titles: Object.fromEntries(texts),
      brand,
      categories: [slugs[kind] ?? "shoes"],
      sku: `${model.slice(0, 3).toUpperCase()}-${index}`,
      prices: { EUR: 500 + pick(7, 20_000), USD: 600 + pick(7, 20_000) },
      stock: pick(8, 20),
      popularity: pick(9, 100),
      publishedAt: new Date(Date.UTC(2025, 0, 1 + pick(40, 500))),
    };
  }
}

function name(seed: number): string {
  const part = (salt: number): string => syllables[hash(seed * 7 + salt) % syllables.length] ?? "";
  return part(1) + part(2) + part(3);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Robert Jenkins' 32-bit mix: the same result on every machine. */
function hash(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
