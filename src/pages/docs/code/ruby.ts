/** Writes the example requests as Ruby programs that use only the standard library. */
import {
  promotionCodeFirstNote,
  type ExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "./example-request.ts";

export function formatRubySample(request: ExampleHttpRequest): string {
  const hasKey = Object.values(request.headers).includes(newIdempotencyKeyPlaceholder);
  return [
    'require "json"',
    'require "net/http"',
    ...(hasKey ? ['require "securerandom"'] : []),
    "",
    "def send_request(request)",
    "  uri = request.uri",
    '  Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }',
    "end",
    "",
    ...(request.before === null ? [] : [`# ${promotionCodeFirstNote}`, ...send(request.before, "before")]),
    ...(request.versionUrl === null
      ? []
      : [
          `cart = Net::HTTP::Get.new(URI("${request.versionUrl}"), "Authorization" => ${spell(request.headers["Authorization"] ?? "")})`,
          'version = JSON.parse(send_request(cart).body).dig("data", "version")',
        ]),
    ...send(request, "request", "response = "),
    "puts response.code, response.body",
  ].join("\n");
}

function send(
  { method, url, headers, body, versionUrl }: ExampleHttpRequest,
  name: string,
  result = "",
): string[] {
  const kind = method.charAt(0) + method.slice(1).toLowerCase();
  const pairs = Object.entries(headers).map(([header, value]) => `  "${header}" => ${spell(value)},`);
  return [
    `${name} = Net::HTTP::${kind}.new(URI("${url}")${pairs.length === 0 ? "" : `,\n${pairs.join("\n")}\n`})`,
    ...(body === null ? [] : [`${name}.body = JSON.generate(${bodyText(body, versionUrl !== null)})`]),
    `${result}send_request(${name})`,
  ];
}

function bodyText(body: object, hasVersion: boolean): string {
  const text = JSON.stringify(body, undefined, 1)
    .replaceAll(/\n\s*/g, " ")
    .replaceAll(/: null\b/g, ": nil");
  return hasVersion
    ? text.replace(/ ?\}$/, `${text === "{}" ? "" : ", "}"expectedVersion": version }`)
    : text;
}

function spell(value: string): string {
  if (value === newIdempotencyKeyPlaceholder) return "SecureRandom.uuid";
  return value.includes("$")
    ? `"${value.replaceAll(/\$(\w+)/g, (_whole, name: string) => `#{ENV.fetch("${name}")}`)}"`
    : `"${value}"`;
}
