/** The words that products share: colours, sizes and other choices, the names of options and attributes, and the headings of descriptions. */

export const locales = ["en", "de", "ja"] as const;
export type Locale = (typeof locales)[number];

/** One text in each language; the second merchant speaks no Japanese. */
export type Words = Readonly<{ en: string; de: string; ja?: string }>;

export function words(en: string, de: string, ja?: string): Words {
  return ja === undefined ? { en, de } : { en, de, ja };
}

const same = (text: string): Words => words(text, text, text);

export const optionNames = {
  colour: words("Colour", "Farbe", "カラー"),
  size: words("Size", "Größe", "サイズ"),
  length: words("Length", "Länge", "長さ"),
  volume: words("Volume", "Volumen", "容量"),
  diameter: words("Diameter", "Durchmesser", "直径"),
  amount: words("Amount", "Betrag", "金額"),
  grind: words("Grind", "Mahlgrad", "挽き方"),
  pack: words("Pack", "Packung", "内容量"),
} as const satisfies Record<string, Words>;
export type OptionCode = keyof typeof optionNames;

export const colourLabels = {
  moss: words("Moss green", "Moosgrün", "モスグリーン"),
  ochre: words("Ochre", "Ocker", "オーカー"),
  slate: words("Slate grey", "Schiefergrau", "スレートグレー"),
  midnight: words("Midnight blue", "Nachtblau", "ミッドナイトブルー"),
  brick: words("Brick red", "Ziegelrot", "ブリックレッド"),
  sand: words("Sand", "Sand", "サンド"),
  black: words("Black", "Schwarz", "ブラック"),
  white: words("White", "Weiß", "ホワイト"),
  natural: words("Natural", "Natur", "ナチュラル"),
  sage: words("Sage", "Salbei", "セージ"),
  terracotta: words("Terracotta", "Terrakotta", "テラコッタ"),
  sky: words("Sky blue", "Himmelblau", "スカイブルー"),
  berry: words("Berry", "Beere", "ベリー"),
  mustard: words("Mustard", "Senfgelb", "マスタード"),
} as const satisfies Record<string, Words>;
export type Colour = keyof typeof colourLabels;

export const choiceLabels: Readonly<Record<string, Words>> = {
  ...colourLabels,
  xs: same("XS"),
  s: same("S"),
  m: same("M"),
  l: same("L"),
  xl: same("XL"),
  "eu-39": same("EU 39"),
  "eu-40": same("EU 40"),
  "eu-41": same("EU 41"),
  "eu-42": same("EU 42"),
  "eu-43": same("EU 43"),
  "eu-44": same("EU 44"),
  regular: words("Regular", "Normal", "レギュラー"),
  long: words("Long", "Lang", "ロング"),
  wide: words("Wide", "Breit", "ワイド"),
  single: words("Single", "Einzelbett", "シングル"),
  double: words("Double", "Doppelbett", "ダブル"),
  "10l": same("10 l"),
  "20l": same("20 l"),
  "40l": same("40 l"),
  "70l": same("70 l"),
  "500ml": same("500 ml"),
  "750ml": same("750 ml"),
  "24cm": same("24 cm"),
  "28cm": same("28 cm"),
  "3go": words("3 gō of rice", "3 Gō Reis", "3合炊き"),
  "5go": words("5 gō of rice", "5 Gō Reis", "5合炊き"),
  small: words("Small", "Klein", "小"),
  large: words("Large", "Groß", "大"),
  "25": same("25 € / $25 / ¥4,000"),
  "50": same("50 € / $50 / ¥8,000"),
  "100": same("100 € / $100 / ¥16,000"),
  "whole-bean": words("Whole bean", "Ganze Bohne", "豆のまま"),
  filter: words("Ground for filter", "Für Filter gemahlen", "ペーパーフィルター用"),
  "250g": same("250 g"),
  "1kg": same("1 kg"),
};

export const attributeNames = {
  packed_size: words("Packed length", "Packmaß (Länge)", "収納時の長さ"),
  capacity: words("Capacity", "Fassungsvermögen", "容量"),
  sleeps: words("Sleeps", "Schlafplätze", "定員"),
  water_column: words("Water column", "Wassersäule", "耐水圧"),
  comfort_temperature: words("Comfort temperature", "Komforttemperatur", "快適使用温度"),
  r_value: words("R-value", "R-Wert", "R値"),
  power: words("Power", "Leistung", "出力"),
  brightness: words("Brightness", "Lichtstrom", "明るさ"),
  battery_life: words("Battery life", "Akkulaufzeit", "連続使用時間"),
  battery_capacity: words("Battery capacity", "Akkukapazität", "バッテリー容量"),
  protection: words("Ingress protection", "Schutzart", "防水・防塵等級"),
  ports: words("Ports", "Anschlüsse", "ポート"),
  width: words("Width", "Breite", "幅"),
  height: words("Height", "Höhe", "高さ"),
  diameter: words("Diameter", "Durchmesser", "直径"),
  blade_length: words("Blade length", "Klingenlänge", "刃渡り"),
  fabric_weight: words("Fabric weight", "Grammatur", "生地の重さ"),
  load_limit: words("Load limit", "Belastbarkeit", "耐荷重"),
  pieces: words("Pieces", "Teile", "セット内容"),
  burn_time: words("Burn time", "Brenndauer", "燃焼時間"),
  alcohol: words("Alcohol by volume", "Alkoholgehalt", "アルコール度数"),
  altitude: words("Growing altitude", "Anbauhöhe", "栽培標高"),
  origin: words("Country of origin", "Herkunftsland", "原産国"),
  heel_drop: words("Heel-to-toe drop", "Sprengung", "ドロップ"),
  dishwasher_safe: words("Dishwasher safe", "Spülmaschinenfest", "食洗機対応"),
  recycled: words("Recycled material", "Recyclingmaterial", "リサイクル素材"),
  vegan: words("Vegan", "Vegan", "ヴィーガン"),
} as const satisfies Record<string, Words>;
export type AttributeCode = keyof typeof attributeNames;

export const headings = {
  points: words("What makes it good", "Was es auszeichnet", "特長"),
  care: words("Good to know", "Gut zu wissen", "ご使用にあたって"),
} as const satisfies Record<string, Words>;

export const detailAlt = words("detail", "Detail", "ディテール");
export const sceneAlt = words("in use", "im Einsatz", "使用イメージ");
