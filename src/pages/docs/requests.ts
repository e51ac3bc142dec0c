/** Example requests as curl and JavaScript code, and the line that sets their API key. No page shows a key. */
import { html, type Markup } from "#pages/shared/html.ts";
import type { DocumentOperation } from "./api-document.ts";
import type { RequestExample } from "./examples.ts";
import { codeBlock } from "./markdown.ts";

export interface ExampleRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
  /** A request that must be sent first, so that this request succeeds; null if there is none. */
  readonly before: ExampleRequest | null;
  /** URL from which the cart's version is read for `expectedVersion`; null if no version is needed. */
  readonly versionUrl: string | null;
}

/** Shell variables for values that the caller sets, and an expression for a new idempotency key. */
const [key, token, proof, once] = [
  "$KEY",
  "$ACCESS_TOKEN",
  "$DPOP_PROOF",
  "$(node -p 'crypto.randomUUID()')",
];

export function createExampleRequest(
  operation: DocumentOperation,
  example: RequestExample,
  publicUrl: string,
): ExampleRequest {
  const { method, credential, isIdempotent } = operation;
  const authorization = {
    none: {},
    key: { Authorization: `Bearer ${key}` },
    token: { Authorization: `DPoP ${token}`, DPoP: proof },
  }[credential];
  const request: ExampleRequest = {
    method,
    url: exampleRequestUrl(operation, example, publicUrl),
    headers: {
      ...authorization,
      ...(isIdempotent ? { "Idempotency-Key": once } : {}),
      ...(example.body === null ? {} : { "Content-Type": "application/json" }),
    },
    body: example.body,
    before: null,
    versionUrl:
      example.versionOf === null ? null : `${publicUrl}/api/v1/open/storefront/carts/${example.versionOf}`,
  };
  const { codeBefore: code } = example;
  return code === null
    ? request
    : { ...request, before: { ...request, method: "PUT", body: { code }, versionUrl: null } };
}

export function exampleRequestUrl(
  { path, parameters }: Pick<DocumentOperation, "path" | "parameters">,
  example: RequestExample,
  publicUrl: string,
): string {
  const filledPath = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(example.parameters[name] ?? ""),
  );
  const queryParameters = parameters.flatMap(({ name, in: where }) => {
    const value = example.parameters[name];
    return where === "query" && value !== undefined ? [[name, value]] : [];
  });
  const query = new URLSearchParams(queryParameters).toString();
  return `${publicUrl}${filledPath}${queryParameters.length === 0 ? "" : `?${query}`}`;
}

export function toCurl(request: ExampleRequest): string {
  const { before, versionUrl } = request;
  const first =
    before === null
      ? []
      : ["# Applies a code first, so that the request can remove it.", command(before, "curl -so /dev/null")];
  const version =
    versionUrl === null
      ? []
      : [
          `VERSION=$(curl -sI '${versionUrl}' \\\n  -H "Authorization: Bearer ${key}" | grep -i '^etag:' | tr -dc 0-9)`,
        ];
  return [...first, ...version, command(request, "curl")].join("\n");
}

function command({ method, url, headers, body, versionUrl }: ExampleRequest, program: string): string {
  const parts = [
    `${program}${method === "GET" ? "" : ` -X ${method}`} '${url}'`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-d '${versionUrl === null ? JSON.stringify(body) : withVersion(body)}'`]),
  ];
  return parts.join(" \\\n  ");
}

/** Ends and reopens the shell quotes around the body, so that the shell inserts the version. */
const withVersion = (body: object): string =>
  JSON.stringify({ ...body, expectedVersion: 0 }).replace(
    '"expectedVersion":0',
    `"expectedVersion":'"$VERSION"'`,
  );

const quoted = (text: string): string => (text.includes("$") ? `"${text}"` : `'${text}'`);

export function toJavaScript(request: ExampleRequest): string {
  const { before, versionUrl } = request;
  const first =
    before === null ? "" : `${call(before)}; // Applies a code first, so that the request can remove it.\n`;
  const version =
    versionUrl === null
      ? ""
      : [
          `const seen = await fetch("${versionUrl}", {\n`,
          `  headers: { Authorization: ${spelled(`Bearer ${key}`)} },\n`,
          "});\n",
          "const { version } = (await seen.json()).data;\n",
        ].join("");
  return [
    `${first}${version}const response = ${call(request)};`,
    "const { data, error } = await response.json();",
    "console.log(response.status, error ?? data);",
  ].join("\n");
}

function call(request: ExampleRequest): string {
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

function bodyText({ body, versionUrl }: ExampleRequest): string {
  const text = JSON.stringify(
    versionUrl === null ? body : { ...body, expectedVersion: 0 },
    null,
    2,
  ).replaceAll(/"(\w+)": /g, "$1: ");
  return text.replace("expectedVersion: 0", "expectedVersion: version").replaceAll("\n", "\n  ");
}

/** Converts a value with shell variables into a JavaScript expression. */
function spelled(value: string): string {
  if (value === once) return "crypto.randomUUID()";
  return value.includes("$")
    ? `\`${value.replaceAll(/\$(\w+)/g, (_whole, name: string) => `\${process.env.${name}}`)}\``
    : `"${value}"`;
}

/** Reads the demo's key from demo.json in the service's data folder. */
const demoKeyLine = `export KEY=$(node -p '
  const folder = process.env.DATA_DIR ?? ".data";
  JSON.parse(fs.readFileSync(folder + "/demo.json", "utf8")).keys.full')`;
const ownKeyLine = "export KEY=cpk_…";

export function credentialInstructions(
  credential: "key" | "token",
  { isDemo, home }: { readonly isDemo: boolean; readonly home: string },
): Markup {
  if (credential === "token")
    return html`<p>
      <code>ACCESS_TOKEN</code> and <code>DPOP_PROOF</code> are an access token and a proof made for this
      request: the <a href="${home}/guides/oauth">OAuth guide</a> shows how an app gets both.
    </p>`;
  return isDemo
    ? html`<p>Set the demo's key once per terminal, in the folder where you started the service:</p>
        ${codeBlock(demoKeyLine, "Shell")}`
    : html`<p>Set your key once per terminal:</p>
        ${codeBlock(ownKeyLine, "Shell")}`;
}
