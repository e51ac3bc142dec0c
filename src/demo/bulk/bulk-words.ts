/** The words that make two things of the bulk catalogue differ: what they are made of and how, collections, makers and colours. */
import { type Colour, colourLabels, type Words, words } from "#demo/catalog/words.ts";

/** What suits each other: nobody knits a clock. In German the material follows "aus". */
export interface Make {
  readonly materials: readonly Words[];
  readonly traits: readonly Words[];
}

export const wovens: Make = {
  materials: [
    words("merino", "Merinowolle"),
    words("linen", "Leinen"),
    words("cotton", "Baumwolle"),
    words("hemp", "Hanf"),
    words("alpaca", "Alpakawolle"),
    words("lyocell", "Lyocell"),
    words("corduroy", "Cord"),
    words("flannel", "Flanell"),
  ],
  traits: [
    words("lightweight", "leicht"),
    words("striped", "gestreift"),
    words("organic", "biologisch"),
    words("oversized", "extraweit"),
    words("quilted", "gesteppt"),
    words("reversible", "wendbar"),
    words("breathable", "atmungsaktiv"),
    words("checked", "kariert"),
    words("undyed", "ungefärbt"),
    words("washed", "vorgewaschen"),
    words("brushed", "aufgeraut"),
    words("knitted", "gestrickt"),
  ],
};

export const sturdy: Make = {
  materials: [
    words("canvas", "Segeltuch"),
    words("leather", "Leder"),
    words("cordura", "Cordura"),
    words("felt", "Filz"),
    words("nylon", "Nylon"),
    words("cork", "Kork"),
    words("jute", "Jute"),
    words("ripstop", "Ripstop"),
  ],
  traits: [
    words("waterproof", "wasserdicht"),
    words("padded", "gepolstert"),
    words("slim", "schmal"),
    words("recycled", "recycelt"),
    words("foldable", "faltbar"),
    words("waxed", "gewachst"),
    words("braided", "geflochten"),
    words("vegan", "vegan"),
    words("embossed", "geprägt"),
    words("magnetic", "magnetisch"),
    words("portable", "tragbar"),
    words("handmade", "handgefertigt"),
  ],
};

export const woods: Make = {
  materials: [
    words("oak", "Eichenholz"),
    words("ash", "Eschenholz"),
    words("walnut", "Nussbaumholz"),
    words("beech", "Buchenholz"),
    words("bamboo", "Bambus"),
    words("birch", "Birkenholz"),
    words("cherry", "Kirschholz"),
    words("larch", "Lärchenholz"),
  ],
  traits: [
    words("solid", "massiv"),
    words("oiled", "geölt"),
    words("rustic", "rustikal"),
    words("stackable", "stapelbar"),
    words("adjustable", "verstellbar"),
    words("minimal", "schlicht"),
    words("carved", "geschnitzt"),
    words("smoked", "geräuchert"),
    words("compact", "kompakt"),
    words("rounded", "abgerundet"),
    words("engraved", "graviert"),
    words("weatherproof", "wetterfest"),
  ],
};

export const hard: Make = {
  materials: [
    words("stoneware", "Steinzeug"),
    words("porcelain", "Porzellan"),
    words("enamel", "Emaille"),
    words("copper", "Kupfer"),
    words("steel", "Edelstahl"),
    words("glass", "Glas"),
    words("brass", "Messing"),
    words("terracotta", "Terrakotta"),
  ],
  traits: [
    words("matte", "matt"),
    words("glossy", "glänzend"),
    words("polished", "poliert"),
    words("speckled", "gesprenkelt"),
    words("heavy", "schwer"),
    words("vintage", "antik"),
    words("hammered", "gehämmert"),
    words("handpainted", "handbemalt"),
    words("faceted", "facettiert"),
    words("ribbed", "gerippt"),
    words("ovenproof", "ofenfest"),
    words("tall", "hoch"),
  ],
};

export const collections: readonly string[] = (
  "Halden Aurora Birkholm Calder Dorset Elmira Falun Granit Havel Ilmen Juno Kestrel Lomond Marlow Nevis Orkney Palma Quarto Rønne " +
  "Saale Tarn Umbra Visby Wicklow Xanten Yarrow Zephyr Alster Brenta Corvo Delphi Ember Fjell Gotland Harz Isar Jasmund Kolding " +
  "Lerwick Mosel Narvik Odense Pinzgau Rigi Skagen Tiber Uist Vesper Wolga Ystad Zingst"
).split(" ");

export const makers: readonly string[] = (
  "Ahlbeck & Co, Brandt Manufaktur, Casa Tiller, Drei Linden, Eberhard Roth, Fenwick Mill, Gebrüder Stern, Haus Amsel, Ida Lund, " +
  "Jansen Werk, Klara Holt, Lagom Studio, Moorland, Nordhaus, Oskar Weiss, Pilgrim Goods, Quellhof, Rosen & Rabe, Sundby, Tessel, " +
  "Ulm Atelier, Van der Meer, Wildwuchs, Yardley Forge, Zeitlos, Atelier Nuit, Bergmann, Cobalt Works, Dünenwind, Elbe Kontor"
).split(", ");

export const colourCodes = Object.keys(colourLabels) as Colour[];

export const origins = ["DE", "PT", "IT", "PL", "JP", "LT", "DK", "FR"] as const;
