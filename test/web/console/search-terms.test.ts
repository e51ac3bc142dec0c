/** What a text of the console's search field means, and the answers if nothing was found. */
import { expect, it } from "vitest";
import { idPrefixes } from "#foundation/ids.ts";
import {
  containsIgnoringCaseAndAccents,
  getNoSearchResultsMessage,
  parseOrderNumber,
  parseConsoleSearchTerm,
  searchedKinds,
  removeSecretsFromSearchText,
} from "#pages/console/browser/search/search-terms.ts";

const tail = "01jgfj2v00fxtr0000000000c1";

it.each([
  ["", { kind: "empty" }],
  ["   ", { kind: "empty" }],
  [`ord_${tail}`, { kind: "id", prefix: "ord", id: `ord_${tail}` }],
  [` CART_${tail.toUpperCase()} `, { kind: "id", prefix: "cart", id: `cart_${tail}` }],
  [
    `https://shop.example/console/deliveries/whd_${tail}?x=1`,
    { kind: "id", prefix: "whd", id: `whd_${tail}` },
  ],
  [`"requestId": "req_${tail}",`, { kind: "id", prefix: "req", id: `req_${tail}` }],
  [`prd_${tail}`, { kind: "unknownPrefix", prefix: "prd", id: `prd_${tail}` }],
  [`xyz_${tail}`, { kind: "unknownPrefix", prefix: "xyz", id: `xyz_${tail}` }],
  ["ord_", { kind: "malformedId", prefix: "ord" }],
  ["evt_01jg", { kind: "malformedId", prefix: "evt" }],
  [`ord_${tail}x`, { kind: "malformedId", prefix: "ord" }],
  [`key_${tail.replace("c1", "iu")}`, { kind: "malformedId", prefix: "key" }],
  ["cpk_test_AbCdEfGhIjKl", { kind: "name", text: "cpk_test_AbCdEfGhIjKl" }],
  ["ABCDE-12345", { kind: "name", text: "ABCDE-12345" }],
  ["Demo integration", { kind: "name", text: "Demo integration" }],
  ["x".repeat(500), { kind: "name", text: "x".repeat(200) }],
])("reads “%s” as %o", (text, term) => {
  expect(parseConsoleSearchTerm(text)).toEqual(term);
});

it("removes secrets, and keeps the part of an API key that the console shows", () => {
  const prefix = "cpk_test_AbCdEfGhIjKl";
  expect(removeSecretsFromSearchText(`Bearer ${prefix}_${"s".repeat(49)}`)).toBe(`Bearer ${prefix}`);
  expect(removeSecretsFromSearchText(`cit_admin_AbCdEfGhIjKl_${"s".repeat(20)}`)).toBe(
    "cit_admin_AbCdEfGhIjKl",
  );
  expect(removeSecretsFromSearchText("whsec_c2VjcmV0c2VjcmV0+/==")).toBe("");
  expect(parseConsoleSearchTerm("whsec_c2VjcmV0")).toEqual({ kind: "empty" });
});

it.each([
  ["ABCDE12345", "ABCDE-12345"],
  ["#abcde-12345", "abcde-12345"],
  ["# ABCDE12345", "ABCDE-12345"],
  ["LH-1", "LH-1"],
])("reads the order number “%s” as %s", (text, number) => {
  expect(parseOrderNumber(text)).toBe(number);
});

it("compares names without case and accents", () => {
  expect(containsIgnoringCaseAndAccents("jerome", "Jérôme Durand")).toBe(true);
  expect(containsIgnoringCaseAndAccents("SHOP.example", null, "https://shop.example/hooks")).toBe(true);
  expect(containsIgnoringCaseAndAccents("x", null, "Ada")).toBe(false);
});

it("every searched prefix is a prefix of ids", () => {
  expect(Object.values(idPrefixes)).toEqual(expect.arrayContaining(Object.keys(searchedKinds)));
});

it("says what was not found, and how an id looks", () => {
  const answer = (text: string): string => getNoSearchResultsMessage(parseConsoleSearchTerm(text));
  expect(answer(`ord_${tail}`)).toBe(`Your shop has no order with the id ord_${tail}.`);
  expect(answer("key_1")).toBe(
    "This is not a whole id. The id of an API key begins with key_ and has 26 letters and digits after that.",
  );
  expect(answer("cart_1")).toContain("The id of a cart begins with cart_");
  expect(answer(`prd_${tail}`)).toBe("The search knows no ids that begin with prd_.");
  expect(answer("Nobody")).toBe(
    "No order has the number “Nobody”, and no app, webhook endpoint, API key or staff member has it in " +
      "its name.",
  );
});
