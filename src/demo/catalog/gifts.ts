/** Demo catalogue: what one gives away, most of it without a parcel. */
import { attribute, type Family, option } from "./entry.ts";
import { words } from "./words.ts";

export const gifts: Family = {
  care: words(
    "Digital goods arrive by e-mail within minutes of the payment and need no delivery address.",
    "Digitales kommt wenige Minuten nach der Zahlung per E-Mail und braucht keine Lieferadresse.",
    "デジタル商品はお支払い後数分でメールにてお届けします。配送先の入力は不要です。",
  ),
  entries: [
    {
      sku: "GFT-CARD",
      motif: "card",
      brand: null,
      categories: ["gift-ideas", "digital"],
      title: words("Lindenhof gift card", "Lindenhof Geschenkgutschein", "リンデンホフ ギフトカード"),
      slugJa: "rindenhofu-gifuto-kado",
      summary: words(
        "For everyone who already has a tent: a gift card by e-mail, valid in the whole shop for three years.",
        "Für alle, die schon ein Zelt haben: ein Gutschein per E-Mail, drei Jahre lang im ganzen Laden gültig.",
        "テントをもう持っている方へ。全商品に3年間使える、メールで届くギフトカード。",
      ),
      points: words(
        "Sent at once or on a date you choose | Can be used in parts | With a card to print out",
        "Sofort oder zum Wunschtermin verschickt | In Teilen einlösbar | Mit Karte zum Ausdrucken",
        "すぐに、または指定日に送信 | 分割して利用可能 | 印刷用カード付き",
      ),
      price: [2500, 2500, 4000],
      priceOf: { "50": [5000, 5000, 8000], "100": [10_000, 10_000, 16_000] },
      options: [option("amount", "25", "50", "100")],
      grams: null,
      restrictions: ["digital", "gift_card", "no_returns"],
    },
    {
      sku: "GFT-KART",
      motif: "map",
      brand: "Vegviser",
      categories: ["digital"],
      title: words("Hundred hut trails, digital map collection", "Hundert Hüttenwege, digitale Kartensammlung", "山小屋トレイル100選 デジタル地図集"),
      slugJa: "yamagoya-toreiru-100-sen-dejitaru-chizushu",
      summary: words(
        "A hundred walks from hut to hut in Europe, as maps for phone and watch, with water points and last buses.",
        "Hundert Wege von Hütte zu Hütte in Europa, als Karten für Telefon und Uhr, mit Wasserstellen und letzten Bussen.",
        "ヨーロッパの山小屋をつなぐ100コース。水場や最終バスまで載った、スマホと時計のための地図集。",
      ),
      points: words(
        "Works without a network | GPX files included | Corrected twice a year",
        "Funktioniert ohne Netz | GPX-Dateien inbegriffen | Zweimal im Jahr korrigiert",
        "オフラインで利用可能 | GPXファイル付き | 年2回更新",
      ),
      price: [1990, 2190, 2980],
      grams: null,
      maxOrderQuantity: 1,
      restrictions: ["digital", "no_returns"],
    },
    {
      sku: "GFT-GIN",
      motif: "bottle",
      brand: "Brennerei Hollerbusch",
      categories: ["gift-ideas"],
      title: words("Heide juniper gin 0.5 l", "Wacholdergin Heide 0,5 l", "ジュニパージン ハイデ 0.5 l"),
      slugJa: "junipa-jin-haide-05-l",
      slugEn: "heide-juniper-gin-500-ml",
      summary: words(
        "Juniper from the heath, elderflower from the garden, distilled in copper. Delivered to adults only.",
        "Wacholder aus der Heide, Holunderblüten aus dem Garten, in Kupfer destilliert. Abgabe nur an Erwachsene.",
        "ヒースのジュニパーと庭のエルダーフラワーを銅釜で蒸留。18歳未満の方への販売はできません。",
      ),
      points: words(
        "Small batches of 300 bottles | Best with tonic and a sprig of thyme | Proof of age at the door",
        "Kleine Chargen von 300 Flaschen | Am besten mit Tonic und einem Zweig Thymian | Altersprüfung an der Haustür",
        "300本ずつの少量生産 | トニックとタイムを添えて | 受け取り時に年齢確認",
      ),
      price: [3290, null, null],
      attributes: [attribute("alcohol", 43, "%"), attribute("capacity", 500, "ml"), attribute("origin", "DE")],
      grams: 1050,
      maxOrderQuantity: 12,
      restrictions: ["age_18"],
    },
  ],
};
