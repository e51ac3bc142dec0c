/** Writes the example requests as Go programs that use only the standard library. */
import {
  promotionCodeFirstNote,
  type ExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "./example-request.ts";

export function formatGoSample(request: ExampleHttpRequest): string {
  const values = Object.values(request.headers);
  const hasKey = values.includes(newIdempotencyKeyPlaceholder);
  const isEnvironmentRead = values.some(
    (value) => value.includes("$") && value !== newIdempotencyKeyPlaceholder,
  );
  const hasVersion = request.versionUrl !== null;
  const modules = [
    ...(hasKey ? ["crypto/rand"] : []),
    ...(hasVersion ? ["encoding/json"] : []),
    "fmt",
    "io",
    "net/http",
    ...(isEnvironmentRead ? ["os"] : []),
    "strings",
  ];
  return [
    "package main",
    "",
    "import (",
    ...modules.map((name) => `\t"${name}"`),
    ")",
    "",
    "func send(method, url, body string) string {",
    "\trequest, err := http.NewRequest(method, url, strings.NewReader(body))",
    "\tif err != nil {",
    "\t\tpanic(err)",
    "\t}",
    ...headerLines(request),
    "\tresponse, err := http.DefaultClient.Do(request)",
    "\tif err != nil {",
    "\t\tpanic(err)",
    "\t}",
    "\tdefer response.Body.Close()",
    "\ttext, _ := io.ReadAll(response.Body)",
    "\tfmt.Println(response.Status)",
    "\treturn string(text)",
    "}",
    "",
    "func main() {",
    ...(request.before === null ? [] : [`\t// ${promotionCodeFirstNote}`, `\t${call(request.before)}`]),
    ...(hasVersion
      ? [
          "\tvar cart struct{ Data struct{ Version int } }",
          `\tjson.Unmarshal([]byte(send("GET", "${request.versionUrl}", "")), &cart)`,
        ]
      : []),
    `\tfmt.Println(${call(request)})`,
    "}",
  ].join("\n");
}

function headerLines({ headers }: ExampleHttpRequest): string[] {
  const keyLines = Object.values(headers).includes(newIdempotencyKeyPlaceholder)
    ? ["\tkey := make([]byte, 16)", "\trand.Read(key)"]
    : [];
  return [
    ...keyLines,
    ...Object.entries(headers).map(([name, value]) => `\trequest.Header.Set("${name}", ${spell(value)})`),
  ];
}

function call({ method, url, body, versionUrl }: ExampleHttpRequest): string {
  const text = body === null ? "" : JSON.stringify(body);
  const sent =
    versionUrl === null
      ? `\`${text}\``
      : `fmt.Sprintf(\`${text.replaceAll("%", "%%").replace(/\}$/, `${text === "{}" ? "" : ","}"expectedVersion":%d}`)}\`, cart.Data.Version)`;
  return `send("${method}", "${url}", ${text === "" ? '""' : sent})`;
}

function spell(value: string): string {
  if (value === newIdempotencyKeyPlaceholder) return 'fmt.Sprintf("%x", key)';
  const [before = "", name] = value.split("$");
  return name === undefined ? `"${value}"` : `${before === "" ? "" : `"${before}"+`}os.Getenv("${name}")`;
}
