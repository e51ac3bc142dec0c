/** Distinguishes queries with personal data from queries for goods. */
import { expect, it } from "vitest";
import { mayQueryContainPersonalData } from "#commerce/search/search-counts.ts";

it.each([
  "anna.schmidt@example.com",
  "mail anna@example",
  "anna＠example.com",
  "+49 170 1234567",
  "0170/1234567",
  "(030) 123 456-78",
  "01.23.45.67.89",
  "tel 0170–1234567 anna",
  "DE89 3704 0044 0532 0130 00",
  "GB29NWBK60161331926819",
  "４９１７０１２３４５６７",
  // One digit differs from a valid product number.
  "4006381333932",
  "4111 1111 1111 1111",
])("the query %s counts as personal, so it is not kept", (query) =>
  expect(mayQueryContainPersonalData(query)).toBe(true),
);

it.each([
  "",
  "zelt",
  "zelt 2 personen",
  "4006381333931",
  "stift 4006381333931",
  "96385074",
  "iphone 15 128",
  "3m 12345678",
  "a @ b",
  "200 x 300 x 400 cm",
])("the query %j does not count as personal", (query) =>
  expect(mayQueryContainPersonalData(query)).toBe(false),
);
