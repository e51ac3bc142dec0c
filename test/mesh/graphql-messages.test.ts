/** Quoted values are removed from messages of graphql-js; the rest of the message is kept. */
import { expect, it } from "vitest";
import { removeQuotedValuesFromMessage } from "#mesh/public-error.ts";

const untouched = [
  'Cannot query field "rol" on type "Viewer". Did you mean "role"?',
  'Variable "$input" of required type "CartCreateInput!" was not provided.',
  'Variable "$input" of non-null type "CartCreateInput!" must not be null.',
  'Variable "$id" of type "String" used in position expecting type "ID!".',
  'Field "PostalAddressInput.line1" of required type "String!" was not provided.',
  'Field "lin1" is not defined by type "PostalAddressInput". Did you mean "line1", "line2", or "line3"?',
  'Unknown argument "frist" on field "Query.products". Did you mean "first"?',
  'Fields "a" conflict because "b" and "c" are different fields. Use different aliases on the fields ' +
    "to fetch both if this was intentional.",
  "Syntax Error: Query depth limit of 12 exceeded, found 13.",
  'Syntax Error: Expected ":", found "}".',
  "Syntax Error: Unexpected <EOF>.",
  'Unknown directive "@surprise".',
];

it.each(untouched)("a GraphQL error message without values of the document is unchanged: %s", (message) => {
  expect(removeQuotedValuesFromMessage(message)).toBe(message);
});

const changed: [string, string][] = [
  [
    'Variable "$input" got invalid value { a: "Anna" } at "input.list[2].phone"; String cannot represent ' +
      'a non string value: { a: "Anna" }',
    'Variable "$input" at "input.list[2].phone" is not valid: expected type String.',
  ],
  [
    'Variable "$input" got invalid value { a: "Anna" }; Field "foo" is not defined by type ' +
      '"PostalAddressInput". Did you mean "floor"?',
    'Variable "$input" is not valid: Field "foo" is not defined by type "PostalAddressInput". Did you ' +
      'mean "floor"?',
  ],
  [
    'Variable "$input" got invalid value {}; Field "line1" of required type "String!" was not provided.',
    'Variable "$input" is not valid: Field "line1" of required type "String!" was not provided.',
  ],
  [
    'Variable "$input" got invalid value null at "input.line1"; Expected non-nullable type "String!" not ' +
      "to be null.",
    'Variable "$input" at "input.line1" is not valid: Expected non-nullable type "String!" not to be null.',
  ],
  [
    'Variable "$to" got invalid value "anna" at "to.kind"; Value "anna" does not exist in "Kind" enum. ' +
      'Did you mean the enum value "ONE" or "TWO"?',
    'Variable "$to" at "to.kind" is not valid: expected type Kind. Did you mean the enum value "ONE" or ' +
      '"TWO"?',
  ],
  [
    'Variable "$to" got invalid value "anna" at "to.at"; Expected type "DateTime". DateTime: RFC 3339.',
    'Variable "$to" at "to.at" is not valid: Expected type "DateTime". DateTime: RFC 3339.',
  ],
  [
    'Variable "$a" got invalid value ["Anna"]; Expected type String; String cannot represent a non ' +
      'string value: ["Anna"]',
    'Variable "$a" is not valid: expected type String.',
  ],
  ['Variable "$a" got invalid value "Anna"; Anna is what nobody expected.', 'Variable "$a" is not valid.'],
  [
    "Int cannot represent non 32-bit signed integer value: 31201234987",
    "A value is not valid: expected type Int.",
  ],
  ['Enum "Kind" cannot represent non-enum value: "Anna".', "A value is not valid: expected type Kind."],
  [
    'Value "ANNA" does not exist in "Kind" enum. Did you mean "ONE"?',
    'A value is not valid: expected type Kind. Did you mean "ONE"?',
  ],
  [
    'Expected value of type "[Line!]!", found "An "Anna" Weg".',
    "A value is not valid: expected type [Line!]!.",
  ],
  ['Argument "a" has invalid value "Anna".', "A value is not valid."],
  ['Syntax Error: Expected Name, found String "Anna "A" Weg".', "Syntax Error: Expected Name, found String."],
  ['Syntax Error: Unexpected Name "Anna".', "Syntax Error: Unexpected Name."],
  [
    'Syntax Error: Invalid Unicode escape sequence: "\\u00zé".',
    'Syntax Error: Invalid Unicode escape sequence: "…".',
  ],
  ['Unknown operation named "Anna".', "Unknown operation."],
  ['Something about "Anna "A" Weg 1" is wrong.', 'Something about "…" is wrong.'],
];

it.each(changed)(
  "a GraphQL error message loses the document's values in the message %s: %s",
  (message, expected) => {
    expect(removeQuotedValuesFromMessage(message)).toBe(expected);
  },
);
