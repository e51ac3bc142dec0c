/**
 * The guide's webhook verifiers in every language with an installed interpreter: they accept and refuse the
 * vectors of the service's fixture, and requests signed with a real endpoint's secret.
 */
import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/process.ts";
import { useWorld } from "./support/use-world.ts";

const run = promisify(execFile);
const folder = new URL("../docs/guides/verify/", import.meta.url).pathname;

interface Case {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBase64: string;
  readonly secret: string;
  readonly now: number;
  readonly expect: "accept" | "reject";
}

/** Programs that read the cases from a file and print the verdicts of the guide's function as JSON. */
const drivers: Readonly<Record<string, string>> = {
  "drive.mjs": `import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";
const cases = JSON.parse(readFileSync("cases.json", "utf8"));
const verdicts = cases.map(({ headers, bodyBase64, secret, now }) =>
  verify(headers, Buffer.from(bodyBase64, "base64"), { secret, now }));
console.log(JSON.stringify(verdicts));`,
  "drive.py": `import base64, json
from verify import verify
cases = json.load(open("cases.json"))
print(json.dumps([verify(c["headers"], base64.b64decode(c["bodyBase64"]), c["secret"], c["now"]) for c in cases]))`,
  "drive.rb": `require "json"
require_relative "verify"
cases = JSON.parse(File.read("cases.json"))
puts JSON.generate(cases.map { |c| verify(c["headers"], c["bodyBase64"].unpack1("m0"), c["secret"], c["now"]) })`,
  "drive.php": `<?php
require "verify.php";
$cases = json_decode(file_get_contents("cases.json"), true);
$verdict = fn ($c) => verify($c["headers"], base64_decode($c["bodyBase64"]), $c["secret"], $c["now"]);
echo json_encode(array_map($verdict, $cases));`,
  "drive.go": `package main

import (
	"encoding/json"
	"os"

	"drive/webhook"
)

func main() {
	var cases []struct {
		Headers    map[string]string
		BodyBase64 []byte
		Secret     string
		Now        int64
	}
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	said := []bool{}
	for _, c := range cases {
		said = append(said, webhook.Verify(c.Headers, c.BodyBase64, c.Secret, c.Now))
	}
	out, _ := json.Marshal(said)
	os.Stdout.Write(out)
}`,
};

const languages = [
  ["JavaScript", "mjs", process.execPath, ["drive.mjs"]],
  ["Python", "py", "python3", ["drive.py"]],
  ["Ruby", "rb", "ruby", ["drive.rb"]],
  ["PHP", "php", "php", ["drive.php"]],
  ["Go", "go", "go", ["run", "."]],
] as const;

async function isInstalled(program: string): Promise<boolean> {
  return run(program, [program === "go" ? "version" : "--version"]).then(
    () => true,
    () => false,
  );
}

async function judge(
  extension: string,
  [program, args]: readonly [string, readonly string[]],
  cases: readonly Case[],
): Promise<boolean[]> {
  const place = temporaryFolder();
  writeFileSync(join(place, "cases.json"), JSON.stringify(cases));
  writeFileSync(
    join(place, extension === "go" ? "main.go" : `drive.${extension}`),
    drivers[`drive.${extension}`] ?? "",
  );
  if (extension === "go") {
    writeFileSync(join(place, "go.mod"), "module drive\n\ngo 1.19\n");
    await run("mkdir", [join(place, "webhook")]);
  }
  copyFileSync(
    join(folder, `verify.${extension}`),
    join(place, extension === "go" ? "webhook" : "", `verify.${extension}`),
  );
  const { stdout } = await run(program, args, {
    cwd: place,
    env: { ...process.env, GOFLAGS: "-mod=mod", GOPROXY: "off" },
    timeout: 120_000,
  });
  return JSON.parse(stdout) as boolean[];
}

const world = useWorld();
const endpoints = "/api/v1/open/webhooks/endpoints";

/** Creates an endpoint with a known secret, and signs requests with it. */
async function signedCases(): Promise<Case[]> {
  const authorization = `Bearer ${world().demo.keys.full}`;
  const headers = { authorization, "idempotency-key": crypto.randomUUID() };
  const body = { url: `https://${crypto.randomUUID()}.shop.example/`, eventTypes: ["*"] };
  const made = await world().send({ method: "POST", url: endpoints, headers, body });
  const { endpoint, secret } = made.body.data as { endpoint: { id: string }; secret: { value: string } };
  const { body: answered } = await world().get(`${endpoints}/${endpoint.id}/signature-fixture`, {
    authorization,
  });
  const { live, vectors } = answered.data as {
    live: { request: Pick<Case, "headers" | "bodyBase64"> };
    vectors: Case[];
  };
  const now = Number(live.request.headers["webhook-timestamp"]);
  const genuine: Case = {
    name: "live",
    headers: live.request.headers,
    bodyBase64: live.request.bodyBase64,
    secret: secret.value,
    now,
    expect: "accept",
  };
  const tampered = Buffer.from(genuine.bodyBase64, "base64");
  tampered.writeUInt8((tampered[10] ?? 0) ^ 1, 10);
  return [
    ...vectors,
    genuine,
    { ...genuine, name: "live, tampered", bodyBase64: tampered.toString("base64"), expect: "reject" },
    { ...genuine, name: "live, of five minutes ago", now: now + 301, expect: "reject" },
    { ...genuine, name: "live, just in time", now: now + 300, expect: "accept" },
    {
      ...genuine,
      name: "live, with no signature",
      headers: { ...genuine.headers, "webhook-signature": "v1," },
      expect: "reject",
    },
  ];
}

describe.each(languages)("%s", (_language, extension, program, args) => {
  it("accepts authentic webhooks and refuses others", async (context) => {
    context.skip(!(await isInstalled(program)), `${program} is not installed.`);
    const cases = await signedCases();
    expect(cases.length).toBeGreaterThan(16);
    const said = await judge(extension, [program, args], cases);
    expect(said.map((isAccepted, index) => [cases[index]?.name, isAccepted ? "accept" : "reject"])).toEqual(
      cases.map(({ name, expect: wanted }) => [name, wanted]),
    );
  });
});

it("the verifiers are linked from the guide exactly as the test runs them", () => {
  const guide = readFileSync(new URL("../docs/guides/webhooks.md", import.meta.url), "utf8");
  for (const [, extension] of languages)
    expect(guide).toContain(`[verify.${extension}](verify/verify.${extension})`);
});
