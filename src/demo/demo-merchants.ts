/** The two demo merchants: where they sell, what they charge for tax and delivery, and what they promise. */
import { roasteryCategories, storeCategories, type CategoryEntry } from "#demo/catalog/categories.ts";
import { camping } from "#demo/catalog/camping.ts";
import { clothing } from "#demo/catalog/clothing.ts";
import { coffee } from "#demo/catalog/coffee.ts";
import type { Family } from "#demo/catalog/entry.ts";
import { gifts } from "#demo/catalog/gifts.ts";
import { home } from "#demo/catalog/home.ts";
import { kitchen } from "#demo/catalog/kitchen.ts";
import { packs } from "#demo/catalog/packs.ts";
import { tech } from "#demo/catalog/tech.ts";
import { type Words, words } from "#demo/catalog/words.ts";
import type { RuledType, StoredRules } from "#commerce/markets/policy-rules.ts";

export interface DemoMarket {
  readonly handle: string;
  readonly name: string;
  /** Which of an entry's amounts is this market's. */
  readonly amountIndex: 0 | 1 | 2;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly defaultLocale: string;
  readonly timeZone: string;
  readonly countries: readonly string[];
  readonly taxRates: readonly DemoTaxRate[];
  readonly delivery: readonly DemoDelivery[];
  /** In force here instead of the merchant's. */
  readonly policies: readonly DemoPolicy[];
}

interface DemoTaxRate {
  readonly country: string;
  readonly regionCode: string | null;
  readonly name: string;
  readonly basisPoints: number;
  readonly appliesToShipping: boolean;
}

interface DemoDelivery {
  readonly code: string;
  readonly names: Words;
  readonly carrier: string | null;
  readonly pickup?: true;
  readonly priceMinor: number;
  readonly freeFromMinor: number | null;
  readonly days: readonly [min: number, max: number];
}

export type DemoPolicy = { readonly [Type in RuledType]: DemoPolicyOf<Type> }[RuledType];

interface DemoPolicyOf<Type extends RuledType> {
  readonly type: Type;
  readonly summaries: Words;
  readonly url: string | null;
  /** What its text says, as eligibility decides by it. */
  readonly rules: StoredRules<Type>;
}

export interface DemoMerchant {
  readonly slug: string;
  readonly name: string;
  readonly markets: readonly DemoMarket[];
  readonly policies: readonly DemoPolicy[];
  readonly categories: readonly CategoryEntry[];
  readonly families: readonly Family[];
}

const rate = (country: string, name: string, basisPoints: number): DemoTaxRate => ({
  country,
  regionCode: null,
  name,
  basisPoints,
  appliesToShipping: true,
});
const stateRate = (regionCode: string, basisPoints: number, appliesToShipping: boolean): DemoTaxRate => ({
  country: "US",
  regionCode,
  name: "Sales tax",
  basisPoints,
  appliesToShipping,
});

const standard = words("Standard delivery", "Standardversand", "通常配送");
const express = words("Express delivery", "Expressversand", "お急ぎ便");

const germany: DemoMarket = {
  handle: "de",
  name: "Germany and neighbours",
  amountIndex: 0,
  currency: "EUR",
  taxIncluded: true,
  defaultLocale: "de",
  timeZone: "Europe/Berlin",
  countries: ["DE", "AT", "FR", "NL"],
  taxRates: [rate("DE", "MwSt.", 1900), rate("AT", "USt.", 2000), rate("FR", "TVA", 2000), rate("NL", "btw", 2100)],
  delivery: [
    { code: "standard", names: standard, carrier: "DHL", priceMinor: 490, freeFromMinor: 15_000, days: [2, 4] },
    { code: "express", names: express, carrier: "DHL Express", priceMinor: 1290, freeFromMinor: null, days: [1, 2] },
    {
      code: "pickup-berlin",
      names: words("Pick up in our shop in Berlin", "Abholung im Laden in Berlin", "ベルリン店舗受け取り"),
      carrier: null,
      pickup: true,
      priceMinor: 0,
      freeFromMinor: null,
      days: [0, 1],
    },
  ],
  policies: [
    {
      type: "withdrawal",
      summaries: words(
        "You may withdraw from the purchase within 14 days of delivery without giving a reason.",
        "Du kannst den Kauf binnen 14 Tagen ab Lieferung ohne Angabe von Gründen widerrufen.",
        "商品到着から14日以内であれば、理由を問わず契約を撤回できます。",
      ),
      url: null,
      rules: { windowDays: 14 },
    },
    {
      type: "warranty",
      summaries: words(
        "Five years of warranty, the two years of the law among them: five repairs, and one replacement, at no cost.",
        "Fünf Jahre Garantie, die zwei Jahre des Gesetzes darin: fünf Reparaturen und ein Ersatz, kostenlos.",
        "法定保証の2年を含む5年保証。修理5回と交換1回が無料です。",
      ),
      url: null,
      rules: { months: 60, repairs: 5, replacements: 1 },
    },
  ],
};

const unitedStates: DemoMarket = {
  handle: "us",
  name: "United States",
  amountIndex: 1,
  currency: "USD",
  taxIncluded: false,
  defaultLocale: "en",
  timeZone: "America/New_York",
  countries: ["US"],
  taxRates: [
    stateRate("US-CA", 725, false),
    stateRate("US-CO", 290, false),
    stateRate("US-NY", 400, true),
    stateRate("US-TX", 625, true),
    stateRate("US-WA", 650, true),
  ],
  delivery: [
    {
      code: "ground",
      names: words("Ground shipping", "Paketversand", "陸送便"),
      carrier: "UPS",
      priceMinor: 795,
      freeFromMinor: 17_500,
      days: [3, 6],
    },
    {
      code: "two-day",
      names: words("Two-day shipping", "Zwei-Tage-Versand", "2日便"),
      carrier: "UPS",
      priceMinor: 1995,
      freeFromMinor: null,
      days: [2, 2],
    },
  ],
  policies: [],
};

const japan: DemoMarket = {
  handle: "jp",
  name: "Japan",
  amountIndex: 2,
  currency: "JPY",
  taxIncluded: true,
  defaultLocale: "ja",
  timeZone: "Asia/Tokyo",
  countries: ["JP"],
  taxRates: [rate("JP", "消費税", 1000)],
  delivery: [
    {
      code: "takuhaibin",
      names: words("Home delivery", "Lieferung nach Hause", "宅配便"),
      carrier: "ヤマト運輸",
      priceMinor: 770,
      freeFromMinor: 22_000,
      days: [2, 5],
    },
    {
      code: "konbini",
      names: words("Pick up at a convenience store", "Abholung im Konbini", "コンビニ受け取り"),
      carrier: "ヤマト運輸",
      pickup: true,
      priceMinor: 550,
      freeFromMinor: null,
      days: [3, 6],
    },
  ],
  policies: [
    {
      type: "return",
      summaries: words(
        "Unused goods can be returned within 14 days of arrival; the buyer pays the parcel.",
        "Unbenutzte Ware kann binnen 14 Tagen nach Ankunft zurückgegeben werden; das Porto trägt der Käufer.",
        "未使用の商品に限り、到着後14日以内の返品を承ります。返送料はお客様のご負担となります。",
      ),
      url: null,
      rules: { windowDays: 14, exchangeWindowDays: null, returnShippingMinor: 770 },
    },
  ],
};

const cancellation: DemoPolicy = {
  type: "cancellation",
  summaries: words(
    "You can cancel within 60 minutes of ordering; after that ask us, and we stop what has not been packed.",
    "Binnen 60 Minuten nach der Bestellung kannst du selbst stornieren; danach frag uns, wir halten an, was noch nicht gepackt ist.",
    "ご注文から60分以内はキャンセルできます。それ以降は、梱包前であれば承りますのでお問い合わせください。",
  ),
  url: null,
  rules: { mode: "immediate", windowMinutes: 60, afterWindow: "request" },
};

export const store: DemoMerchant = {
  slug: "lindenhof",
  name: "Lindenhof",
  markets: [germany, unitedStates, japan],
  policies: [
    cancellation,
    {
      type: "return",
      summaries: words(
        "Send back within 30 days what you did not use; the label is in the parcel.",
        "Unbenutztes nehmen wir 30 Tage lang zurück; das Etikett liegt im Paket.",
        "未使用の商品は30日以内に返品できます。返送ラベルは同梱されています。",
      ),
      url: "https://lindenhof.example/returns",
      rules: { windowDays: 30, exchangeWindowDays: 30, methods: ["mail"], returnShippingMinor: 0 },
    },
    {
      type: "warranty",
      summaries: words(
        "Two years on everything that is not worn out but broken.",
        "Zwei Jahre auf alles, was nicht abgenutzt, sondern kaputt ist.",
        "消耗ではなく故障によるものは、すべて2年間保証いたします。",
      ),
      url: null,
      rules: { months: 24 },
    },
  ],
  categories: storeCategories,
  families: [camping, clothing, packs, kitchen, home, tech, gifts],
};

const germanyOfRoastery: DemoMarket = {
  ...germany,
  name: "Germany and Austria",
  countries: ["DE", "AT"],
  taxRates: germany.taxRates.slice(0, 2),
  delivery: [{ code: "standard", names: standard, carrier: "DHL", priceMinor: 390, freeFromMinor: 4500, days: [2, 3] }],
  policies: germany.policies.filter(({ type }) => type === "withdrawal"),
};

export const roastery: DemoMerchant = {
  slug: "morgenrot",
  name: "Morgenrot Kaffee",
  markets: [germanyOfRoastery, { ...unitedStates, delivery: unitedStates.delivery.slice(0, 1) }],
  policies: [
    cancellation,
    {
      type: "return",
      summaries: words("Unopened goods can be returned within 14 days.", "Ungeöffnete Ware nehmen wir 14 Tage lang zurück."),
      url: null,
      rules: { windowDays: 14, exchangeWindowDays: 14 },
    },
    { type: "warranty", summaries: words("Two years on all equipment.", "Zwei Jahre auf alles Zubehör."), url: null, rules: { months: 24 } },
  ],
  categories: roasteryCategories,
  families: [coffee],
};
