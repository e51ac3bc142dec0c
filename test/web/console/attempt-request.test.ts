/** The console derives the headers of a delivery attempt, formats its body, and writes a curl command. */
import { expect, it } from "vitest";
import {
  formatDeliveryAttemptAsCurl,
  listDeliveryAttemptRequestHeaders,
  formatJson,
  tokenizeJson,
} from "#pages/console/browser/deliveries/attempt-request.ts";

const delivery = {
  id: "whd_1",
  replayOf: null,
  installation: { id: "ins_1" },
  event: { id: "evt_1", type: "order.placed" },
};

it("the headers are those of the attempt; what is not stored is only described", () => {
  const headers = listDeliveryAttemptRequestHeaders(delivery, { number: 2, at: "2026-11-23T15:00:00.900Z" });
  const valueOf = (name: string): string | undefined => headers.find((header) => header.name === name)?.value;
  expect([valueOf("webhook-id"), valueOf("webhook-timestamp"), valueOf("webhook-attempt")]).toEqual([
    "evt_1",
    "1795446000",
    "2",
  ]);
  expect(headers.filter(({ isDescribed }) => isDescribed).map(({ name }) => name)).toEqual([
    "webhook-signature",
    "traceparent",
  ]);
  const replayed = listDeliveryAttemptRequestHeaders(
    { ...delivery, replayOf: "whd_0" },
    { number: 1, at: "2026-11-23" },
  ).find(({ name }) => name === "webhook-replay");
  expect(replayed?.value).toBe("true");
});

it("JSON is indented and split into its parts without a change; other text stays as it is", () => {
  const text = String.raw`{"na\"me":"a: \"b\"","n":-1.5e3,"ok":true,"no":null,"list":[]}`;
  const formatted = formatJson(text);
  const tokens = tokenizeJson(formatted);
  expect(tokens.map((token) => token.text).join("")).toBe(formatted);
  const of = (kind: string): readonly string[] =>
    tokens.filter((token) => token.kind === kind).map((token) => token.text);
  expect(of("name")).toEqual([String.raw`"na\"me"`, '"n"', '"ok"', '"no"', '"list"']);
  expect(of("text")).toEqual([String.raw`"a: \"b\""`]);
  expect(of("value")).toEqual(["-1500", "true", "null"]);
  expect(formatJson("<html>")).toBe("<html>");
});

it("the curl command quotes every part for the shell, and leaves out described headers", () => {
  const command = formatDeliveryAttemptAsCurl({
    url: "https://shop.example/it's",
    headers: [
      { name: "webhook-id", value: "evt_1", isDescribed: false },
      { name: "webhook-signature", value: "v1,…", isDescribed: true },
    ],
    body: `{"a":"$(id) 'b'"}`,
  });
  expect(command).toBe(
    [
      String.raw`curl --request POST 'https://shop.example/it'\''s' \ `.trimEnd(),
      String.raw`  --header 'webhook-id: evt_1' \ `.trimEnd(),
      String.raw`  --data-raw '{"a":"$(id) '\''b'\''"}'`,
    ].join("\n"),
  );
});
