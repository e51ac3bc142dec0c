/** Demo catalogue of the second merchant, a coffee roaster: small, in two markets and two languages. */
import { attribute, colours, type Family, option } from "./entry.ts";
import { words } from "./words.ts";

const beans = {
  motif: "beans",
  brand: "Morgenrot",
  options: [option("pack", "250g", "1kg")],
  grams: 260,
  restrictions: ["perishable"],
} as const;

export const coffee: Family = {
  care: words(
    "Keep it cool, dry and closed. Our roastery in Leipzig answers every question about brewing, usually within a day.",
    "Kühl, trocken und verschlossen aufbewahren. Unsere Rösterei in Leipzig beantwortet jede Brühfrage, meist noch am selben Tag.",
  ),
  entries: [
    {
      ...beans,
      sku: "MR-ESP",
      categories: ["espresso"],
      title: words("Nachtzug espresso", "Espresso Nachtzug"),
      summary: words(
        "Dark chocolate, walnut, a long finish: an espresso for milk and for people who get up before the sun.",
        "Dunkle Schokolade, Walnuss, langer Nachklang: ein Espresso für Milch und für alle, die vor der Sonne aufstehen.",
      ),
      points: words(
        "60 % Brazil, 40 % India | Roasted slowly in a drum | Forgives an imprecise grinder",
        "60 % Brasilien, 40 % Indien | Langsam in der Trommel geröstet | Verzeiht eine ungenaue Mühle",
      ),
      price: [1090, 1390, null],
      priceOf: { "1kg": [3690, 4590, null] },
      attributes: [attribute("origin", ["BR", "IN"])],
    },
    {
      ...beans,
      sku: "MR-YIR",
      categories: ["filter-coffee"],
      title: words("Yirgacheffe washed filter coffee", "Filterkaffee Yirgacheffe, gewaschen"),
      summary: words(
        "Jasmine, bergamot and apricot from gardens at 2,100 metres; light roast for filter and Aeropress.",
        "Jasmin, Bergamotte und Aprikose aus Gärten auf 2.100 Metern; helle Röstung für Filter und Aeropress.",
      ),
      points: words(
        "Bought from the washing station directly | Harvest of last winter | Also good cold",
        "Direkt von der Waschstation gekauft | Ernte des letzten Winters | Auch kalt ein Genuss",
      ),
      price: [1390, 1690, null],
      priceOf: { "1kg": [4790, 5790, null] },
      stock: ["in_stock", "low_stock"],
      attributes: [attribute("origin", "ET"), attribute("altitude", 2100, "m")],
    },
    {
      ...beans,
      sku: "MR-DEC",
      categories: ["espresso", "filter-coffee"],
      title: words("Feierabend decaf", "Entkoffeiniert Feierabend"),
      summary: words(
        "Decaffeinated with sugar cane in Colombia; tastes of caramel and lets you sleep.",
        "In Kolumbien mit Zuckerrohr entkoffeiniert; schmeckt nach Karamell und lässt dich schlafen.",
      ),
      points: words(
        "Less than 0.1 % caffeine | Works as espresso and filter | Our own favourite after six",
        "Weniger als 0,1 % Koffein | Als Espresso und Filter | Nach sechs unser eigener Liebling",
      ),
      price: [1290, 1590, null],
      priceOf: { "1kg": [4390, 5290, null] },
      stock: ["in_stock", "backorder"],
      attributes: [attribute("origin", "CO")],
    },
    {
      sku: "MR-PROBE",
      motif: "beans",
      brand: "Morgenrot",
      categories: ["filter-coffee"],
      title: words("Tasting box, 5 coffees", "Probierpaket mit 5 Kaffees"),
      summary: words(
        "Five bags of 80 g and a card that asks the right questions: what do you taste first?",
        "Fünf Beutel zu 80 g und eine Karte, die die richtigen Fragen stellt: Was schmeckst du zuerst?",
      ),
      points: words("From light to dark | Changes every month", "Von hell bis dunkel | Wechselt jeden Monat"),
      price: [2290, 2690, null],
      priceBefore: [2690, 3190, null],
      attributes: [attribute("pieces", 5)],
      grams: 480,
      restrictions: ["perishable"],
    },
    {
      sku: "MR-GLAS",
      motif: "coffee",
      brand: "Morgenrot",
      categories: ["brewing"],
      title: words("Glass pour-over coffee set", "Handfilter-Set aus Glas"),
      // The same slug as a product of the first merchant: slugs are a merchant's own.
      slugEn: "pour-over-coffee-set",
      summary: words(
        "Borosilicate glass, a cork collar, and a steel filter that replaces three thousand paper ones.",
        "Borosilikatglas, ein Kragen aus Kork und ein Stahlfilter, der dreitausend Papierfilter ersetzt.",
      ),
      points: words("Watch it brew | Two to three cups", "Dem Kaffee beim Werden zusehen | Zwei bis drei Tassen"),
      price: [4290, 4690, null],
      attributes: [attribute("capacity", 0.5, "l"), attribute("dishwasher_safe", true)],
      grams: 540,
    },
    {
      sku: "MR-KANNE",
      motif: "cup",
      brand: "Kvern",
      categories: ["brewing"],
      title: words("Milk jug with narrow spout", "Milchkännchen mit schmaler Tülle"),
      summary: words(
        "Steel, half a litre, and a spout that makes a tulip of your first attempt.",
        "Stahl, ein halber Liter und eine Tülle, mit der schon der erste Versuch eine Tulpe wird.",
      ),
      points: words("Scale inside | Handle stays cool", "Skala innen | Griff bleibt kühl"),
      price: [2490, 2790, null],
      options: [colours("slate", "white")],
      attributes: [attribute("capacity", 0.5, "l"), attribute("dishwasher_safe", true)],
      grams: 290,
    },
    {
      sku: "MR-STOPF",
      motif: "coffee",
      brand: "Kvern",
      categories: ["brewing"],
      title: words("Walnut tamper 58 mm", "Tamper aus Nussbaum, 58 mm"),
      summary: words(
        "A level base, a warm handle: even shots without thinking about it.",
        "Plane Basis, warmer Griff: gleichmäßige Shots, ohne darüber nachzudenken.",
      ),
      points: words("Turned in Saxony | Base of stainless steel", "In Sachsen gedrechselt | Basis aus Edelstahl"),
      price: [3990, null, null],
      stock: ["low_stock"],
      attributes: [attribute("diameter", 58, "mm"), attribute("origin", "DE")],
      grams: 360,
    },
    {
      sku: "MR-KURS",
      motif: "card",
      brand: "Morgenrot",
      categories: ["courses"],
      title: words("Online barista course", "Barista-Kurs online"),
      summary: words(
        "Six short lessons and one live hour with our head roaster, with subtitles in English and German.",
        "Sechs kurze Lektionen und eine Live-Stunde mit unserer Röstmeisterin, mit Untertiteln auf Deutsch und Englisch.",
      ),
      points: words("Starts when you do | Certificate included", "Beginnt, wann du willst | Zertifikat inbegriffen"),
      price: [4900, 5400, null],
      grams: null,
      maxOrderQuantity: 5,
      restrictions: ["digital"],
    },
  ],
};
