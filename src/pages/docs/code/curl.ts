/** Writes the example requests as curl commands for a POSIX shell. */
import {
  promotionCodeFirstNote,
  type ExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "./example-request.ts";

/** A shell expression that creates a random UUID, which the command sends as its idempotency key. */
const newKeyCommand = "$(node -p 'crypto.randomUUID()')";

export function formatCurlSample(request: ExampleHttpRequest): string {
  const { before, versionUrl } = request;
  const first = before === null ? [] : [`# ${promotionCodeFirstNote}`, command(before, "curl -so /dev/null")];
  const version =
    versionUrl === null
      ? []
      : [
          `VERSION=$(curl -sI '${versionUrl}' \\\n  -H "Authorization: Bearer $KEY" | grep -i '^etag:' | tr -dc 0-9)`,
        ];
  return [...first, ...version, command(request, "curl")].join("\n");
}

function command({ method, url, headers, body, versionUrl }: ExampleHttpRequest, program: string): string {
  const parts = [
    `${program}${method === "GET" ? "" : ` -X ${method}`} '${url}'`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`-d '${versionUrl === null ? JSON.stringify(body) : withVersion(body)}'`]),
  ];
  return parts.join(" \\\n  ");
}

/**
 * Writes a JSON body in shell quotes, with the shell variable `$VERSION` as the value of `expectedVersion`.
 * The quotes are interrupted at the variable, because the shell replaces no variables inside single quotes.
 */
const withVersion = (body: object): string =>
  JSON.stringify({ ...body, expectedVersion: 0 }).replace(
    '"expectedVersion":0',
    `"expectedVersion":'"$VERSION"'`,
  );

const quoted = (text: string): string =>
  text.includes("$") ? `"${text.replace(newIdempotencyKeyPlaceholder, newKeyCommand)}"` : `'${text}'`;
