/** The category trees of the two demo merchants. A category's slug is the key that products name it by. */
import { type Words, words } from "./words.ts";

export interface CategoryEntry {
  readonly slug: string;
  readonly names: Words;
  readonly children?: readonly CategoryEntry[];
}

export const storeCategories: readonly CategoryEntry[] = [
  {
    slug: "outdoor",
    names: words("Outdoor", "Draußen", "アウトドア"),
    children: [
      {
        slug: "camping",
        names: words("Camping", "Camping", "キャンプ"),
        children: [
          { slug: "tents", names: words("Tents & tarps", "Zelte & Tarps", "テント・タープ") },
          { slug: "sleeping", names: words("Sleeping bags & mats", "Schlafsäcke & Matten", "シュラフ・マット") },
          { slug: "camp-kitchen", names: words("Camp kitchen", "Outdoorküche", "キャンプ調理") },
          { slug: "camp-lighting", names: words("Light on the way", "Licht für unterwegs", "アウトドアライト") },
          { slug: "camp-furniture", names: words("Camp furniture", "Campingmöbel", "アウトドア家具") },
        ],
      },
      {
        slug: "clothing",
        names: words("Clothing", "Bekleidung", "ウェア"),
        children: [
          { slug: "jackets", names: words("Jackets & vests", "Jacken & Westen", "ジャケット・ベスト") },
          { slug: "base-layers", names: words("Base layers", "Funktionswäsche", "ベースレイヤー") },
          { slug: "trousers", names: words("Trousers", "Hosen", "パンツ") },
          { slug: "footwear", names: words("Footwear", "Schuhe", "シューズ") },
          { slug: "accessories", names: words("Socks, hats & gloves", "Socken, Mützen & Handschuhe", "靴下・帽子・手袋") },
        ],
      },
      {
        slug: "packs",
        names: words("Packs & bags", "Rucksäcke & Taschen", "ザック・バッグ"),
        children: [
          { slug: "daypacks", names: words("Daypacks", "Tagesrucksäcke", "デイパック") },
          { slug: "trekking-packs", names: words("Trekking packs", "Trekkingrucksäcke", "トレッキングザック") },
          { slug: "travel-bags", names: words("Travel bags", "Reisetaschen", "トラベルバッグ") },
          { slug: "travel-accessories", names: words("Travel accessories", "Reisezubehör", "トラベル小物") },
        ],
      },
    ],
  },
  {
    slug: "home",
    names: words("Home", "Zuhause", "ホーム"),
    children: [
      {
        slug: "kitchen",
        names: words("Kitchen & table", "Küche & Tisch", "キッチン・食卓"),
        children: [
          { slug: "coffee", names: words("Coffee", "Kaffee", "コーヒー") },
          { slug: "cookware", names: words("Cookware", "Kochen", "調理器具") },
          { slug: "tableware", names: words("Tableware", "Gedeckter Tisch", "食器") },
        ],
      },
      {
        slug: "living",
        names: words("Living", "Wohnen", "リビング"),
        children: [
          { slug: "textiles", names: words("Textiles", "Textilien", "ファブリック") },
          { slug: "lighting", names: words("Lamps & candles", "Leuchten & Kerzen", "照明・キャンドル") },
          { slug: "storage", names: words("Storage", "Aufbewahrung", "収納") },
          { slug: "decoration", names: words("Decoration", "Dekoration", "インテリア雑貨") },
          { slug: "bath", names: words("Bath", "Bad", "バス") },
        ],
      },
    ],
  },
  {
    slug: "tech",
    names: words("Tech", "Technik", "テック"),
    children: [
      { slug: "audio", names: words("Audio", "Audio", "オーディオ") },
      { slug: "power", names: words("Power", "Strom", "電源") },
      { slug: "wearables", names: words("Wearables", "Wearables", "ウェアラブル") },
    ],
  },
  {
    slug: "gifts",
    names: words("Gifts", "Geschenke", "ギフト"),
    children: [
      { slug: "gift-ideas", names: words("Gift ideas", "Geschenkideen", "贈りもの") },
      { slug: "digital", names: words("Digital goods", "Digitales", "デジタル商品") },
    ],
  },
];

export const roasteryCategories: readonly CategoryEntry[] = [
  {
    slug: "coffee",
    names: words("Coffee", "Kaffee"),
    children: [
      { slug: "espresso", names: words("Espresso", "Espresso") },
      { slug: "filter-coffee", names: words("Filter coffee", "Filterkaffee") },
    ],
  },
  { slug: "brewing", names: words("Brewing", "Zubehör") },
  { slug: "courses", names: words("Courses", "Kurse") },
];
