/** Writes the example requests as programs for PHP 8 that need no extensions. */
import {
  promotionCodeFirstNote,
  type ExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "./example-request.ts";

export function formatPhpSample(request: ExampleHttpRequest): string {
  return [
    "<?php",
    ...(request.before === null ? [] : [`${send(request.before)}; // ${promotionCodeFirstNote}`]),
    ...(request.versionUrl === null
      ? []
      : [
          `$context = stream_context_create(["http" => ["header" => "Authorization: " . ${spell(request.headers["Authorization"] ?? "")}]]);`,
          `$cart = json_decode(file_get_contents("${request.versionUrl}", false, $context), true);`,
        ]),
    `$answer = ${send(request)};`,
    'echo $http_response_header[0], "\\n", $answer, "\\n";',
  ].join("\n");
}

function send({ method, url, headers, body, versionUrl }: ExampleHttpRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `    "${name}: " . ${spell(value)},`);
  const options = [
    ...(method === "GET" ? [] : [`  "method" => "${method}",`]),
    ...(lines.length === 0 ? [] : ['  "header" => [', ...lines, "  ],"]),
    ...(body === null ? [] : [`  "content" => json_encode(${arrayText(body, versionUrl !== null)}),`]),
    '  "ignore_errors" => true,',
  ];
  return `file_get_contents("${url}", false, stream_context_create(["http" => [\n${options.join("\n")}\n]]))`;
}

function arrayText(value: unknown, hasVersion = false): string {
  if (Array.isArray(value)) return `[${value.map((item) => arrayText(item)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, item]) => `"${name}" => ${arrayText(item)}`);
  const version = hasVersion ? ['"expectedVersion" => $cart["data"]["version"]'] : [];
  return `[${[...entries, ...version].join(", ")}]`;
}

function spell(value: string): string {
  if (value === newIdempotencyKeyPlaceholder) return "bin2hex(random_bytes(16))";
  const [before = "", name] = value.split("$");
  return name === undefined ? `"${value}"` : `${before === "" ? "" : `"${before}" . `}getenv("${name}")`;
}
