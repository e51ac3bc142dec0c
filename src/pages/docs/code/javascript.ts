/** Writes the example requests as JavaScript programs for Node, with `fetch`. */
import {
  promotionCodeFirstNote,
  type ExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "./example-request.ts";

export function formatJavaScriptSample(request: ExampleHttpRequest): string {
  const { before, versionUrl } = request;
  const first = before === null ? "" : `${call(before)}; // ${promotionCodeFirstNote}\n`;
  const version =
    versionUrl === null
      ? ""
      : [
          `const seen = await fetch("${versionUrl}", {\n`,
          `  headers: { Authorization: ${spelled("Bearer $KEY")} },\n`,
          "});\n",
          "const { version } = (await seen.json()).data;\n",
        ].join("");
  return [
    `${first}${version}const response = ${call(request)};`,
    "const { data, error } = await response.json();",
    "console.log(response.status, error ?? data);",
  ].join("\n");
}

function call(request: ExampleHttpRequest): string {
  const { method, url, headers } = request;
  const given = Object.entries(headers).map(([name, value]) => `    ${named(name)}: ${spelled(value)},`);
  const lines = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(given.length === 0 ? [] : ["  headers: {", ...given, "  },"]),
    ...(request.body === null ? [] : [`  body: JSON.stringify(${bodyText(request)}),`]),
  ];
  return lines.length === 0 ? `await fetch("${url}")` : `await fetch("${url}", {\n${lines.join("\n")}\n})`;
}

const named = (name: string): string => (/^\w+$/.test(name) ? name : `"${name}"`);

function bodyText({ body, versionUrl }: ExampleHttpRequest): string {
  const text = JSON.stringify(
    versionUrl === null ? body : { ...body, expectedVersion: 0 },
    null,
    2,
  ).replaceAll(/"(\w+)": /g, "$1: ");
  return text.replace("expectedVersion: 0", "expectedVersion: version").replaceAll("\n", "\n  ");
}

/** Converts a text that contains shell variables, for example `$KEY`, into a JavaScript expression. */
function spelled(value: string): string {
  if (value === newIdempotencyKeyPlaceholder) return "crypto.randomUUID()";
  return value.includes("$")
    ? `\`${value.replaceAll(/\$(\w+)/g, (_whole, name: string) => `\${process.env.${name}}`)}\``
    : `"${value}"`;
}
