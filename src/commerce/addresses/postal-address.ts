/**
 * A postal address as the caller entered it. The stored address is a normalized copy, in which the region
 * code and postal code have the usual spelling of the country.
 */
export interface PostalAddressInput {
  readonly recipientName?: string | null | undefined;
  readonly company?: string | null | undefined;
  readonly line1?: string | null | undefined;
  readonly line2?: string | null | undefined;
  readonly line3?: string | null | undefined;
  readonly district?: string | null | undefined;
  readonly city?: string | null | undefined;
  /** ISO 3166-2 code of the region, with or without the country prefix: `US-CA` or `CA`. */
  readonly regionCode?: string | null | undefined;
  readonly postalCode?: string | null | undefined;
  /** ISO 3166-1 alpha-2 code of the country. */
  readonly countryCode?: string | null | undefined;
  /** The phone number in E.164 form, for example `+493012345678`. */
  readonly phone?: string | null | undefined;
  readonly email?: string | null | undefined;
}

export interface PostalAddress {
  readonly recipientName: string;
  readonly company: string | null;
  readonly line1: string;
  readonly line2: string | null;
  readonly line3: string | null;
  readonly district: string | null;
  readonly city: string | null;
  readonly regionCode: string | null;
  readonly postalCode: string | null;
  readonly countryCode: string;
  readonly phone: string | null;
  readonly email: string | null;
}

export type AddressField = keyof PostalAddress;

/**
 * Maximum length of each address field, in characters after normalization. A region code of ISO 3166-2 has at
 * most six characters, a country code two.
 */
export const addressLengthMax = {
  recipientName: 100,
  company: 100,
  line1: 120,
  line2: 120,
  line3: 120,
  district: 80,
  city: 80,
  regionCode: 6,
  postalCode: 16,
  countryCode: 2,
  phone: 32,
  email: 254,
} as const satisfies Record<AddressField, number>;

export const addressFields = Object.keys(addressLengthMax) as readonly AddressField[];

/**
 * How strictly an address is checked. `basic` checks the country, lengths and forbidden content; `strict`
 * also checks all rules of the country.
 */
export const addressValidationLevels = ["strict", "basic"] as const;
export type AddressValidationLevel = (typeof addressValidationLevels)[number];
