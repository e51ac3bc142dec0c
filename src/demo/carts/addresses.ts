/** Where the demo's buyers live: addresses of public places, with nobody's name. One for each country that the demo's merchants sell to. */
import type { PostalAddressInput } from "#commerce/addresses/postal-address.ts";

/** By country. */
export const demoAddresses: ReadonlyMap<string, PostalAddressInput> = new Map(
  [
    { recipientName: "Anna Beispiel", line1: "Invalidenstraße 43", postalCode: "10115", city: "Berlin", countryCode: "DE" },
    { recipientName: "Bernd Muster", line1: "Maria-Theresien-Platz 1", postalCode: "1010", city: "Wien", countryCode: "AT" },
    { recipientName: "Claire Exemple", line1: "6 place d'Italie", postalCode: "75013", city: "Paris", countryCode: "FR" },
    { recipientName: "Daan Voorbeeld", line1: "Museumstraat 1", postalCode: "1071 XX", city: "Amsterdam", countryCode: "NL" },
    { recipientName: "Erin Example", line1: "476 5th Avenue", postalCode: "10018", city: "New York", regionCode: "US-NY", countryCode: "US" },
    { recipientName: "見本 花子", line1: "上野公園13-9", postalCode: "110-8712", city: "台東区", regionCode: "JP-13", countryCode: "JP" },
  ].map((address) => [address.countryCode, address]),
);
