/** Writes the example requests as Python 3 programs that use only the standard library. */
import {
  promotionCodeFirstNote,
  type ExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "./example-request.ts";

export function formatPythonSample(request: ExampleHttpRequest): string {
  const hasKey = newIdempotencyKeyPlaceholder === request.headers["Idempotency-Key"];
  const isEnvironmentRead = Object.values(request.headers).some(
    (value) => value.includes("$") && value !== newIdempotencyKeyPlaceholder,
  );
  const modules = ["json", ...(isEnvironmentRead ? ["os"] : []), ...(hasKey ? ["uuid"] : [])];
  return [
    `import ${modules.join(", ")}`,
    "from urllib.request import Request, urlopen",
    "",
    ...(request.before === null
      ? []
      : [`# ${promotionCodeFirstNote}`, `urlopen(${requestText(request.before)}).read()`]),
    ...(request.versionUrl === null
      ? []
      : [
          `cart = Request("${request.versionUrl}", headers={"Authorization": ${spell(request.headers["Authorization"] ?? "")}})`,
          'version = json.load(urlopen(cart))["data"]["version"]',
        ]),
    `request = ${requestText(request)}`,
    "with urlopen(request) as response:",
    "    print(response.status, json.load(response))",
  ].join("\n");
}

function requestText({ method, url, headers, body, versionUrl }: ExampleHttpRequest): string {
  const names = Object.entries(headers).map(([name, value]) => `    "${name}": ${spell(value)},`);
  const parts = [
    ...(method === "GET" ? [] : [`method="${method}"`]),
    ...(names.length === 0 ? [] : [`headers={\n${names.join("\n")}\n}`]),
    ...(body === null ? [] : [`data=json.dumps(${bodyText(body, versionUrl !== null)}).encode()`]),
  ];
  return `Request("${url}"${parts.map((part) => `, ${part}`).join("")})`;
}

function bodyText(body: object, hasVersion: boolean): string {
  const text = JSON.stringify(body, undefined, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(/: (true|false|null)\b/g, (_whole, word: string) => `: ${words[word]}`);
  return hasVersion
    ? text.replace(/ ?\}$/, `${text === "{}" ? "" : ", "}"expectedVersion": version }`)
    : text;
}

const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

function spell(value: string): string {
  if (value === newIdempotencyKeyPlaceholder) return "str(uuid.uuid4())";
  return value.includes("$")
    ? `f"${value.replaceAll(/\$(\w+)/g, (_whole, name: string) => `{os.environ['${name}']}`)}"`
    : `"${value}"`;
}
