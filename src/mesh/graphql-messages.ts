/**
 * GraphQL's own refusals without the values that they quote: what does not fit its type may be a buyer's address. What stays is what the schema
 * has a name for, where it is, and what was expected there.
 */
export function withoutValues(message: string): string {
  return withoutQuotedValues(message.replaceAll(longName, "…"));
}

/** No name of the schema's is as long. A client's own would come back twice in each error. */
const longName = /\w{201,}/g;

function withoutQuotedValues(message: string): string {
  const variable = /^Variable "\$(?<name>\w+)" got invalid value /.exec(message)?.groups?.["name"];
  if (variable !== undefined) return `Variable "$${variable}"${placeOf(message, variable)} is not valid${expectationOf(message)}`;
  if (message.startsWith("Syntax Error: ")) return withoutForeignQuotes(message.replace(foundToken, "$<kind>"));
  return isAboutLiteral(message) ? `A value is not valid${expectationOf(message)}` : withoutForeignQuotes(message);
}

/** The path is the last thing before the reason; an index or a field's name cannot hold a value. */
function placeOf(message: string, variable: string): string {
  const paths = [...message.matchAll(/ at "(?<path>\w+(?:\.\w+|\[\d+\])*)"; /g)].flatMap(({ groups }) => groups?.["path"] ?? []);
  const path = paths.findLast((found) => found === variable || found.startsWith(`${variable}.`) || found.startsWith(`${variable}[`));
  return path === undefined ? "" : ` at "${path}"`;
}

const typeName = String.raw`"?(?<type>[\w![\]]+)"?`;
const suggestion = String.raw`(?<suggestion> Did you mean [^"]*"\w+"(?:(?:, | or |, or )"\w+")*\?)?`;

/** Of those that end the message, each is the reason whole: what was quoted stands before it. */
const reasons: readonly RegExp[] = [
  new RegExp(`Field "[\\w.]+" of required type ${typeName} was not provided\\.$`),
  new RegExp(`Field "[A-Za-z_]\\w*" is not defined by type ${typeName}\\.${suggestion}$`),
  new RegExp(`Expected (?:non-nullable )?type ${typeName} (?:not to be null|to be an object)\\.$`),
  new RegExp(`Exactly one key must be specified for OneOf type ${typeName}\\.$`),
  /Field "[\w.]+" must be non-null\.$/,
  // A scalar of ours says its rule.
  /Expected type "(?<type>\w+)"\. \k<type>: [^"]*$/,
];

/** These go on with the value; only the type is taken from them. */
const types: readonly RegExp[] = [
  /(?:^|; )(?<type>String|Int|Float|Boolean|ID) cannot represent /g,
  new RegExp(`(?:^|; )Enum "(?<type>\\w+)" cannot represent .*?${suggestion}$`, "gs"),
  new RegExp(`does not exist in "(?<type>\\w+)" enum\\.${suggestion}$`, "g"),
  /^Expected value of type "(?<type>[\w![\]]+)", found /g,
  /; Expected type "?(?<type>\w+)"?\./g,
];

/** With what leads to it, or the full stop alone. */
function expectationOf(message: string): string {
  const expectation = findExpectation(message);
  return expectation === undefined ? "." : `: ${expectation}`;
}

function findExpectation(message: string): string | undefined {
  for (const reason of reasons) {
    const found = reason.exec(message);
    if (found !== null) return found[0];
  }
  for (const type of types) {
    const groups = [...message.matchAll(type)].at(-1)?.groups;
    if (groups?.["type"] !== undefined) return `expected type ${groups["type"]}.${groups["suggestion"] ?? ""}`;
  }
  const owner = new RegExp(`is not defined by type ${typeName}\\.`).exec(message)?.groups?.["type"];
  return owner === undefined ? undefined : `a field is not defined by type "${owner}".`;
}

function isAboutLiteral(message: string): boolean {
  return /^(?:\w+|Enum "\w+") cannot represent |^Value ".*" does not exist in "\w+" enum\.|^Expected value of type |^Argument "\w+" has invalid value /s.test(
    message,
  );
}

/** A token is told by its kind and its text. */
const foundToken = /(?<kind>(?:found|Unexpected) (?:Name|Int|Float|String|BlockString|Comment)) ".*"/s;

/** A name, a type, a coordinate of the schema, or a sign of the grammar. */
const known = /^(?:[$@]?[A-Za-z_]\w*(?:\.\w+)*|[\w![\]]+|[!$&()[\]{|}:=@.…]{1,3})$/;

/** What is unknown is taken away from its first quotation mark to the last one of all: it may hold such marks itself. */
function withoutForeignQuotes(message: string): string {
  if (message.startsWith("Unknown operation named ")) return "Unknown operation.";
  const foreign = [...message.matchAll(/"(?<text>[^"]*)"/g)].find(({ groups }) => !known.test(groups?.["text"] ?? ""));
  return foreign === undefined ? message : `${message.slice(0, foreign.index)}"…"${message.slice(message.lastIndexOf('"') + 1)}`;
}
