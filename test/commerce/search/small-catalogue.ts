/** A small catalog; each product tests one rule of the search's contract. */
import type { OpenedDatabase } from "#database/connect.ts";
import { addIndexed, addMerchants, type MerchantSpec, type ProductSpec } from "./catalogue.ts";

const merchants: MerchantSpec[] = [
  {
    id: "mer_alpha",
    slug: "alpha",
    locale: "en",
    markets: [
      { countries: ["DE", "AT"], currency: "EUR", locale: "de" },
      { countries: ["US"], currency: "USD", locale: "en" },
      { countries: ["JP"], currency: "JPY", locale: "ja" },
    ],
    categories: [
      { slug: "footwear", names: { en: "Footwear", de: "Schuhwerk", ja: "履物" } },
      { slug: "running", parent: "footwear", names: { en: "Running", de: "Laufen" } },
      { slug: "trail", parent: "running", names: { en: "Trail" } },
      { slug: "home", names: { en: "Home", de: "Wohnen" } },
    ],
  },
  {
    id: "mer_beta",
    slug: "beta",
    locale: "de",
    markets: [
      { countries: ["DE"], currency: "CHF", locale: "de" },
      { countries: ["GB"], currency: "GBP", locale: "en" },
    ],
    categories: [{ slug: "footwear", names: { de: "Fußbekleidung" } }],
  },
];

const alpha = (id: string, product: Omit<ProductSpec, "id" | "merchant">): ProductSpec => ({
  id,
  merchant: "mer_alpha",
  ...product,
});
const beta = (id: string, product: Omit<ProductSpec, "id" | "merchant">): ProductSpec => ({
  id,
  merchant: "mer_beta",
  ...product,
});
const day = (number: number): Date => new Date(Date.UTC(2026, 0, number));

const products: ProductSpec[] = [
  alpha("p_runner", {
    titles: {
      en: { title: "Cloud Running Shoes", description: "Light and breathable." },
      de: { title: "Cloud Laufschuhe", description: "Leicht und atmungsaktiv für jeden Weg." },
      ja: { title: "クラウド ランニングシューズ", description: "軽量で通気性に優れた運動靴です。" },
    },
    brand: "Nimbus",
    categories: ["running"],
    sku: "CLD-100-BLK",
    gtin: "4006381333931",
    prices: { EUR: 12_000, USD: 13_000, JPY: 18_000 },
    popularity: 50,
    publishedAt: day(1),
  }),
  alpha("p_runner_sold", {
    titles: { en: "Storm Running Shoes", de: "Storm Laufschuhe" },
    brand: "Nimbus",
    categories: ["trail"],
    sku: "STM-200",
    gtin: "00012345678905",
    prices: { EUR: 9000, USD: 9900 },
    stock: 0,
    popularity: 80,
    publishedAt: day(2),
  }),
  alpha("p_shoe_rack", {
    titles: { en: "Rack for shoes and running gear", de: "Regal für Schuhe" },
    brand: "Woodly",
    categories: ["home"],
    prices: { EUR: 4500, USD: 5000 },
    popularity: 10,
    publishedAt: day(3),
  }),
  alpha("p_sock", {
    titles: { en: { title: "Merino Sock", description: "Goes well with running shoes." }, de: "Merinosocke" },
    brand: "Woolly",
    categories: ["home"],
    prices: { EUR: 1500, USD: 1600, JPY: 2000 },
    popularity: 20,
    publishedAt: day(4),
  }),
  alpha("p_cap", {
    titles: { en: "Nimbus-style Cap" },
    brand: "Qua-Tro",
    categories: ["running"],
    prices: { EUR: 2500, USD: 2600 },
    popularity: 20,
    publishedAt: day(4),
  }),
  alpha("p_tee", {
    titles: { en: "Men's T-Shirt <b>&", de: "Herren T-Shirt" },
    brand: "O'Neill & Söhne",
    prices: { EUR: 2000, USD: 2100 },
    popularity: 30,
    publishedAt: day(5),
  }),
  alpha("p_kettle", {
    titles: { fr: "Bouilloire élégante", ja: "電気ケトル" },
    prices: { EUR: 3000, JPY: 4000 },
    popularity: 5,
    publishedAt: day(6),
  }),
  beta("p_sandal", {
    titles: { de: "Grüne Sandale aus Straßenleder" },
    brand: "Süß",
    categories: ["footwear"],
    prices: { CHF: 7000 },
    popularity: 40,
    publishedAt: day(7),
  }),
  beta("p_boot", {
    titles: { de: "Wanderstiefel", en: "Hiking Boots" },
    categories: ["footwear"],
    prices: { CHF: 1000, GBP: 15_000 },
    popularity: 40,
    publishedAt: day(7),
  }),
  beta("p_draft", { titles: { en: "Hiking Boots Draft" }, status: "draft", popularity: 999 }),
  beta("p_unpriced", { titles: { en: "Hiking Boots Unpriced" }, prices: {}, popularity: 999 }),
];

export async function openSmallCatalogue(database: OpenedDatabase): Promise<void> {
  await addMerchants(database, merchants);
  await addIndexed(database, products);
}
