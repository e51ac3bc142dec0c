/**
 * Finds the place at which a body stops being JSON, and says what is expected there. A message never contains
 * a part of the body, because the body may hold personal data. Also finds a member whose name occurs twice in
 * an object of valid JSON.
 */
import { printParseErrorCode, visit } from "jsonc-parser";

interface JsonFault {
  /** The name that the library jsonc-parser gives to the syntax error. */
  readonly code: string;
  readonly offset: number;
  /** The line and the column of the syntax error, both counted from 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * Thrown to end the search for a syntax error early: JSON that is nested more deeply than request bodies may
 * be is not searched further.
 */
class SearchEnd extends Error {}

const textNotClosed =
  "the text that begins here must end with a double quotation mark in the same line; write a line break as \\n";

/**
 * Says what the JSON parser expects at the position of a syntax error, as the end of a sentence. The key is
 * the name of the syntax error.
 */
const expectations: Readonly<Record<string, string>> = {
  InvalidNumberFormat: "a number such as 12 or 1.5 is expected",
  UnexpectedEndOfNumber: "a number such as 12 or 1.5 is expected",
  PropertyNameExpected:
    "the name of a field in double quotation marks is expected, without a comma before a closing brace",
  ValueExpected: "a value is expected",
  ColonExpected: "a colon is expected after the name of a field",
  CommaExpected: "a comma or the closing bracket is expected",
  CloseBraceExpected: "the closing brace } is missing, so the body may be cut off",
  CloseBracketExpected: "the closing bracket ] is missing, so the body may be cut off",
  EndOfFileExpected: "the end of the body is expected, but more text follows",
  InvalidCommentToken: "JSON has no comments",
  UnexpectedEndOfComment: "JSON has no comments",
  UnexpectedEndOfString: textNotClosed,
  InvalidUnicode: "\\u must be followed by four hexadecimal digits",
  InvalidEscapeCharacter: 'the text that begins here has \\ before a character other than " \\ / b f n r t u',
  InvalidCharacter: "the text that begins here has a control character, such as a tab",
  InvalidSymbol:
    "a value or a name is expected: texts and names have double quotation marks, other values are numbers, " +
    "true, false, null, lists and objects",
};

/**
 * Describes the syntax error in a text that JSON.parse has refused. Returns a sentence with the line, the
 * column and what is expected there; undefined if the position is not found.
 */
export function describeJsonSyntaxFault(text: string, depthMax: number): string | undefined {
  const fault = findJsonFault(text, depthMax);
  if (fault === undefined) return undefined;
  const isAfterEnd = fault.code === "InvalidSymbol" && isCompleteJson(text.slice(0, fault.offset));
  const expected = expectations[isAfterEnd ? "EndOfFileExpected" : fault.code];
  return expected === undefined ? undefined : `Line ${fault.line}, column ${fault.column}: ${expected}.`;
}

function findJsonFault(text: string, depthMax: number): JsonFault | undefined {
  let depth = 0;
  let found: JsonFault | undefined;
  const enter = (): void => {
    depth += 1;
    if (depth > depthMax) throw new SearchEnd();
  };
  const leave = (): void => {
    depth -= 1;
  };
  try {
    visit(
      text,
      {
        onObjectBegin: enter,
        onArrayBegin: enter,
        onObjectEnd: leave,
        onArrayEnd: leave,
        // eslint-disable-next-line max-params -- The library's own signature.
        onError: (code, offset, _length, line, character) => {
          found = { code: printParseErrorCode(code), offset, line: line + 1, column: character + 1 };
          throw new SearchEnd();
        },
      },
      { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
    );
  } catch (error) {
    if (!(error instanceof SearchEnd)) throw error;
  }
  return found;
}

/** Returns the path of the first member of valid JSON whose object has an earlier member of the same name. */
export function findDuplicateJsonMemberPath(text: string): readonly (string | number)[] | undefined {
  // A stack with an entry for each open object: the names of the members that were read so far.
  const names: Set<string>[] = [];
  let found: readonly (string | number)[] | undefined;
  visit(text, {
    onObjectBegin: () => void names.push(new Set()),
    onObjectEnd: () => void names.pop(),
    // eslint-disable-next-line max-params -- The library's own signature.
    onObjectProperty: (name, _offset, _length, _line, _character, readPath) => {
      if (names.at(-1)?.has(name)) found ??= [...readPath(), name];
      names.at(-1)?.add(name);
    },
  });
  return found;
}

function isCompleteJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
