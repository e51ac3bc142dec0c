/** What the bulk catalogue is made of: departments, their ranges, and the things in them with a price in euros and a weight in grams. */
import { hard, type Make, sturdy, woods, wovens } from "./bulk-words.ts";
import { type Words, words } from "#demo/catalog/words.ts";
import type { Motif } from "#demo/pictures/pictures.ts";

export type Thing = readonly [en: string, de: string, euros: number, grams: number, motif: Motif];

interface Range {
  readonly slug: string;
  readonly names: Words;
  readonly things: readonly Thing[];
}

export interface Department {
  readonly slug: string;
  readonly names: Words;
  readonly make: Make;
  readonly ranges: readonly Range[];
}

export const departments: readonly Department[] = [
  {
    slug: "wardrobe",
    names: words("Wardrobe", "Kleiderschrank"),
    make: wovens,
    ranges: [
      {
        slug: "tops",
        names: words("Tops", "Oberteile"),
        things: [
          ["sweater", "Pullover", 89, 420, "shirt"],
          ["cardigan", "Strickjacke", 99, 460, "jacket"],
          ["shirt", "Hemd", 69, 230, "shirt"],
          ["blouse", "Bluse", 64, 180, "shirt"],
          ["tunic", "Tunika", 59, 210, "shirt"],
          ["hoodie", "Kapuzenpullover", 79, 520, "shirt"],
        ],
      },
      {
        slug: "outerwear",
        names: words("Outerwear", "Jacken und Mäntel"),
        things: [
          ["coat", "Mantel", 229, 1200, "jacket"],
          ["parka", "Parka", 199, 1350, "jacket"],
          ["blazer", "Blazer", 159, 640, "jacket"],
          ["gilet", "Steppweste", 89, 340, "vest"],
          ["poncho", "Poncho", 74, 480, "jacket"],
        ],
      },
      {
        slug: "knitted-extras",
        names: words("Scarves and hats", "Schals und Mützen"),
        things: [
          ["scarf", "Schal", 39, 160, "blanket"],
          ["cap", "Kappe", 29, 90, "beanie"],
          ["mittens", "Fäustlinge", 34, 110, "glove"],
          ["leggings", "Leggings", 44, 190, "trousers"],
          ["slippers", "Hausschuhe", 42, 380, "shoe"],
        ],
      },
    ],
  },
  {
    slug: "luggage",
    names: words("Luggage", "Gepäck"),
    make: sturdy,
    ranges: [
      {
        slug: "carry",
        names: words("Bags to carry", "Taschen"),
        things: [
          ["rucksack", "Wanderrucksack", 99, 980, "pack"],
          ["satchel", "Umhängetasche", 84, 720, "duffel"],
          ["tote", "Einkaufstasche", 29, 260, "duffel"],
          ["holdall", "Weekender", 129, 1400, "duffel"],
          ["briefcase", "Aktentasche", 169, 1200, "box"],
          ["bumbag", "Bauchtasche", 34, 180, "duffel"],
        ],
      },
      {
        slug: "small-carry",
        names: words("Small goods", "Kleine Begleiter"),
        things: [
          ["wallet", "Geldbörse", 49, 110, "card"],
          ["purse", "Portemonnaie", 54, 130, "card"],
          ["keyring", "Schlüsselanhänger", 14, 30, "tag"],
          ["sleeve", "Laptophülle", 39, 190, "box"],
          ["washbag", "Kulturbeutel", 32, 170, "duffel"],
        ],
      },
    ],
  },
  {
    slug: "furniture",
    names: words("Furniture", "Möbel"),
    make: woods,
    ranges: [
      {
        slug: "sitting",
        names: words("Sitting", "Sitzen"),
        things: [
          ["stool", "Hocker", 89, 3200, "chair"],
          ["bench", "Sitzbank", 249, 11_000, "chair"],
          ["armchair", "Sessel", 399, 16_000, "chair"],
          ["rocker", "Schaukelstuhl", 329, 12_000, "chair"],
        ],
      },
      {
        slug: "keeping",
        names: words("Keeping", "Aufbewahren"),
        things: [
          ["shelf", "Regal", 119, 7400, "board"],
          ["sideboard", "Anrichte", 549, 38_000, "box"],
          ["crate", "Kiste", 34, 1900, "box"],
          ["drawer", "Schubladenbox", 64, 2600, "box"],
          ["wardrobe", "Kleiderschrank", 749, 62_000, "box"],
          ["coatstand", "Garderobe", 139, 5200, "board"],
        ],
      },
      {
        slug: "working",
        names: words("Desks and tables", "Tische"),
        things: [
          ["desk", "Schreibtisch", 349, 24_000, "board"],
          ["nightstand", "Nachttisch", 129, 6400, "box"],
          ["tray", "Tablett", 29, 700, "plate"],
          ["lectern", "Stehpult", 189, 8200, "board"],
        ],
      },
    ],
  },
  {
    slug: "cookery",
    names: words("Cookery", "Kochen und Backen"),
    make: hard,
    ranges: [
      {
        slug: "pots-and-pans",
        names: words("Pots and pans", "Töpfe und Pfannen"),
        things: [
          ["saucepan", "Kasserolle", 59, 1300, "pot"],
          ["casserole", "Schmortopf", 119, 4100, "pot"],
          ["wok", "Wok", 69, 1700, "pan"],
          ["kettle", "Wasserkessel", 54, 1100, "pot"],
          ["roaster", "Bräter", 99, 3600, "pan"],
        ],
      },
      {
        slug: "on-the-table",
        names: words("On the table", "Auf dem Tisch"),
        things: [
          ["bowl", "Schale", 19, 480, "plate"],
          ["platter", "Servierplatte", 39, 1100, "plate"],
          ["carafe", "Karaffe", 34, 760, "vase"],
          ["teapot", "Teekanne", 49, 980, "cup"],
          ["tumbler", "Becher", 12, 240, "cup"],
          ["sugarbowl", "Zuckerdose", 18, 310, "canister"],
        ],
      },
    ],
  },
  {
    slug: "decor",
    names: words("Light and decor", "Licht und Deko"),
    make: hard,
    ranges: [
      {
        slug: "light",
        names: words("Light", "Licht"),
        things: [
          ["lantern", "Laterne", 44, 1400, "candle"],
          ["pendant", "Hängeleuchte", 129, 2200, "lamp"],
          ["sconce", "Wandleuchte", 89, 1600, "lamp"],
          ["tealight", "Teelichthalter", 14, 260, "candle"],
        ],
      },
      {
        slug: "accents",
        names: words("Accents", "Akzente"),
        things: [
          ["planter", "Übertopf", 29, 1300, "vase"],
          ["mirror", "Spiegel", 99, 3400, "watch"],
          ["clock", "Wanduhr", 59, 900, "watch"],
          ["figurine", "Figur", 34, 420, "vase"],
          ["incense", "Räucherschale", 24, 380, "plate"],
        ],
      },
    ],
  },
  {
    slug: "bedroom",
    names: words("Bed and bath", "Schlafen und Baden"),
    make: wovens,
    ranges: [
      {
        slug: "bed",
        names: words("Bed", "Bett"),
        things: [
          ["duvet", "Bettdecke", 149, 1900, "cushion"],
          ["pillow", "Kopfkissen", 49, 800, "cushion"],
          ["bedspread", "Tagesdecke", 109, 2100, "blanket"],
          ["sheet", "Bettlaken", 44, 760, "towel"],
          ["pyjamas", "Schlafanzug", 74, 430, "trousers"],
        ],
      },
      {
        slug: "bathroom",
        names: words("Bathroom", "Bad"),
        things: [
          ["bathrobe", "Bademantel", 89, 1100, "jacket"],
          ["washcloth", "Waschlappen", 9, 60, "towel"],
          ["bathmat", "Badematte", 29, 740, "mat"],
          ["curtain", "Vorhang", 64, 980, "towel"],
        ],
      },
    ],
  },
  {
    slug: "desk",
    names: words("Desk and paper", "Schreibtisch und Papier"),
    make: sturdy,
    ranges: [
      {
        slug: "writing",
        names: words("Writing", "Schreiben"),
        things: [
          ["notebook", "Notizbuch", 19, 260, "board"],
          ["planner", "Kalender", 24, 320, "board"],
          ["penholder", "Stifteköcher", 16, 210, "canister"],
          ["folder", "Mappe", 22, 240, "map"],
        ],
      },
      {
        slug: "devices",
        names: words("Around devices", "Rund ums Gerät"),
        things: [
          ["keyboard", "Tastatur", 99, 820, "battery"],
          ["mousepad", "Mauspad", 17, 140, "mat"],
          ["dock", "Ladestation", 79, 540, "charger"],
          ["earphones", "Ohrhörer", 59, 60, "headphones"],
          ["loudspeaker", "Lautsprecher", 119, 900, "speaker"],
        ],
      },
    ],
  },
  {
    slug: "garden",
    names: words("Garden and play", "Garten und Spiel"),
    make: woods,
    ranges: [
      {
        slug: "growing",
        names: words("Growing", "Gärtnern"),
        things: [
          ["trowel", "Pflanzkelle", 19, 320, "knife"],
          ["birdhouse", "Vogelhaus", 39, 1200, "box"],
          ["trellis", "Rankgitter", 49, 2800, "basket"],
          ["trug", "Gartenkorb", 44, 1100, "basket"],
          ["sundial", "Sonnenuhr", 84, 2600, "watch"],
        ],
      },
      {
        slug: "playing",
        names: words("Playing", "Spielen"),
        things: [
          ["puzzle", "Puzzle", 24, 540, "box"],
          ["sledge", "Schlitten", 99, 4300, "board"],
          ["swing", "Schaukel", 59, 2400, "chair"],
          ["kite", "Drachen", 34, 280, "tent"],
          ["skittles", "Kegelspiel", 49, 3100, "bottle"],
        ],
      },
    ],
  },
];
