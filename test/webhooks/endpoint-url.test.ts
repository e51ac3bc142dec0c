import { describe, expect, test } from "vitest";
import {
  findEndpointUrlFaults,
  normalizeEndpointUrl,
  findNonPublicHostAddressFaults,
} from "#webhooks/endpoint-url.ts";

const codes = (url: string, isLoopbackAllowed = false): readonly string[] =>
  findEndpointUrlFaults(url, { isLoopbackAllowed }).map(({ code }) => code);

const name63 = "a".repeat(63);

describe("the URL of an endpoint", () => {
  test.each([
    "https://shop.example.com/hooks",
    "https://shop.example.com",
    "https://shop.example.com:443/",
    "https://shop.example.com:1024/hooks?tenant=1",
    "https://shop.example.com:65535/",
    "HTTPS://Shop.Example.COM/Hooks",
    "https://xn--bcher-kva.example.com/ä",
    "https://my_hooks.example.com/",
    "https://latest.example.com/",
    "https://a.example.com/",
    "https://1a.example.com/",
    "https://example.c/",
    "https://shop.technology/",
    `https://${`${name63}.`.repeat(3)}${"a".repeat(61)}/`,
    "https://mytest.com/",
    "https://notlocalhost.com/",
    `https://${name63}.example.com/`,
    `https://example.com/${"a".repeat(2028)}`,
  ])("accepts %s", (url) => {
    expect(codes(url)).toEqual([]);
  });

  test.each([
    ["http://shop.example.com/", ["https_required"]],
    ["ftp://shop.example.com/", ["malformed_url"]],
    ["xhttps://shop.example.com/", ["malformed_url"]],
    [`https://shop.example.com/${"a/../".repeat(500)}`, ["too_long"]],
    ["shop.example.com/hooks", ["malformed_url"]],
    ["//shop.example.com/hooks", ["malformed_url"]],
    ["https:/shop.example.com/", ["malformed_url"]],
    ["https:\\\\shop.example.com\\", ["malformed_url"]],
    ["https:///", ["malformed_url"]],
    ["https://", ["malformed_url"]],
    ["", ["malformed_url"]],
    [" https://shop.example.com/", ["malformed_url"]],
    ["https://shop.example.com/ ", ["malformed_url"]],
    ["https://shop.exam\nple.com/", ["malformed_url"]],
    ["https://shop.example.com/\u0000", ["malformed_url"]],
    ["https://shop.example.com/\ud800", ["malformed_url"]],
    ["https://shop.example.com:99999/", ["malformed_url"]],
    ["https://256.256.256.256/", ["malformed_url"]],
    [`https://example.com/${"a".repeat(2029)}`, ["too_long"]],
    [`https://example.com/${"ä".repeat(400)}`, ["too_long"]],
    ["https://user@shop.example.com/", ["userinfo_not_allowed"]],
    ["https://user:secret@shop.example.com/", ["userinfo_not_allowed"]],
    ["https://@shop.example.com/", ["userinfo_not_allowed"]],
    ["https://shop.example.com/#part", ["fragment_not_allowed"]],
    ["https://shop.example.com/#", ["fragment_not_allowed"]],
    ["https://shop.example.com:80/", ["port_not_allowed"]],
    ["https://shop.example.com:22/", ["port_not_allowed"]],
    ["https://shop.example.com:1023/", ["port_not_allowed"]],
    ["https://shop.example.com:0/", ["port_not_allowed"]],
    ["https://8.8.8.8/", ["ip_literal_not_allowed"]],
    ["https://127.0.0.1/", ["ip_literal_not_allowed"]],
    ["https://[2606:4700:4700::1111]/", ["ip_literal_not_allowed"]],
    ["https://[::ffff:127.0.0.1]/", ["ip_literal_not_allowed"]],
    ["https://0x7f.1/", ["ip_literal_not_allowed"]],
    ["https://127.1/", ["ip_literal_not_allowed"]],
    ["https://2130706433/", ["ip_literal_not_allowed"]],
    ["https://0x08080808/", ["ip_literal_not_allowed"]],
    ["https://0177.0.0.1/", ["ip_literal_not_allowed"]],
    ["https://127。0。0。1/", ["ip_literal_not_allowed"]],
    ["https://①②⑦.0.0.1/", ["ip_literal_not_allowed"]],
    ["https://127.0.0.1./", ["ip_literal_not_allowed"]],
    ["https://intranet/", ["single_label"]],
    ["https://intranet./", ["malformed_host"]],
    ["https://localhost/", ["special_use_name"]],
    ["https://localhost./", ["special_use_name"]],
    ["https://hooks.localhost/", ["special_use_name"]],
    ["https://printer.local/", ["special_use_name"]],
    ["https://metadata.google.internal/", ["special_use_name"]],
    ["https://METADATA.google.INTERNAL/", ["special_use_name"]],
    ["https://metadata.google.internal./", ["special_use_name"]],
    ["https://home.arpa/", ["special_use_name"]],
    ["https://nas.home.arpa/", ["special_use_name"]],
    ["https://router.lan/", ["special_use_name"]],
    ["https://abcdef.onion/", ["special_use_name"]],
    ["https://shop.test/", ["special_use_name"]],
    ["https://shop.invalid/", ["special_use_name"]],
    ["https://shop.example.com./", ["malformed_host"]],
    ["https://shop..example.com/", ["malformed_host"]],
    [`https://${name63}a.example.com/`, ["malformed_host"]],
    [`https://${`${name63}.`.repeat(4)}com/`, ["malformed_host"]],
    ["https://%65xample.com/", ["host_not_canonical"]],
    ["https://ｅxample.com/", ["host_not_canonical"]],
    ["https://bücher.example.com/", ["host_not_canonical"]],
    [
      "http://user@127.0.0.1:80/#a",
      ["userinfo_not_allowed", "fragment_not_allowed", "https_required", "ip_literal_not_allowed"],
    ],
  ])("refuses %j: %j", (url, expected) => {
    expect(codes(url)).toEqual(expected);
  });

  test.each([
    ["https://10.0.0.1/", "ip_literal_not_allowed", "The URL must have a name, not an IP address."],
    [`https://example.com/${"a".repeat(2029)}`, "too_long", "A URL may have 2048 characters at most."],
    [
      `https://example.com/${"ä".repeat(400)}`,
      "too_long",
      "Percent-encoded it has more than 2048 characters.",
    ],
    ["shop.example.com", "malformed_url", "The URL is not a complete URL: https://, a name, and a path."],
    [
      "https://user@shop.example.com/",
      "userinfo_not_allowed",
      "The URL must not have a user name or a password.",
    ],
    ["https://shop.example.com/#part", "fragment_not_allowed", "The URL must not have a fragment."],
    ["http://shop.example.com/", "https_required", "The URL must start with https://."],
    ["https://shop.example.com:80/", "port_not_allowed", "Its port must be 443 or from 1024 to 65535."],
    ["https://printer.local/", "special_use_name", "Its name belongs to a domain that is not public."],
    ["https://intranet/", "single_label", "Its name must have a domain: a single label is not public."],
    ["https://shop..example.com/", "malformed_host", "Its host is not a well-formed name."],
    ["https://%65xample.com/", "host_not_canonical", "Its host must be written as it is read: example.com."],
  ])("has faults that name the field and the reason: %s", (url, code, message) => {
    expect(findEndpointUrlFaults(url, { isLoopbackAllowed: false })).toEqual([
      { in: "body", field: "/url", code, message },
    ]);
  });

  test("has a separate fault for a host on this machine or one that resolves to it", async () => {
    expect(findEndpointUrlFaults("http://localhost:80/", { isLoopbackAllowed: true })).toEqual([
      {
        in: "body",
        field: "/url",
        code: "port_not_allowed",
        message: "A port of this machine must be from 1024 to 65535.",
      },
    ]);
    expect(
      await findNonPublicHostAddressFaults("https://shop.example.com/", {
        isLoopbackAllowed: false,
        resolve: async () => ["10.0.0.1"],
      }),
    ).toEqual([
      {
        in: "body",
        field: "/url",
        code: "resolves_inside",
        message: "The name resolves to an address that is not public.",
      },
    ]);
  });

  test.each([
    "http://localhost:3000/hooks",
    "https://localhost:1024/",
    "http://127.0.0.1:8080/",
    "http://127.3.2.1:65535/",
    "http://[::1]:3000/",
  ])("of a merchant in test mode may be on this machine, if the settings allow it: %s", (url) => {
    expect(codes(url, true)).toEqual([]);
    expect(codes(url, false)).not.toEqual([]);
  });

  test.each([
    ["http://localhost/", ["port_not_allowed"]],
    ["https://localhost/", ["port_not_allowed"]],
    ["http://localhost:1023/", ["port_not_allowed"]],
    ["http://127.1:3000/", ["host_not_canonical"]],
    ["http://0x7f.1:3000/", ["host_not_canonical"]],
    ["http://2130706433:3000/", ["host_not_canonical"]],
    ["http://[0:0:0:0:0:0:0:1]:3000/", ["host_not_canonical"]],
    ["http://user@localhost:3000/", ["userinfo_not_allowed"]],
    ["http://shop.example.com:3000/", ["https_required"]],
    ["http://10.0.0.1:3000/", ["https_required", "ip_literal_not_allowed"]],
    ["https://192.168.0.1:3000/", ["ip_literal_not_allowed"]],
    ["https://169.254.169.254/", ["ip_literal_not_allowed"]],
    ["https://0.0.0.0:3000/", ["ip_literal_not_allowed"]],
    ["https://[::ffff:127.0.0.1]:3000/", ["ip_literal_not_allowed"]],
    ["https://[::ffff:7f00:1]:3000/", ["ip_literal_not_allowed"]],
    ["https://hooks.localhost:3000/", ["special_use_name"]],
    ["http://localhost.:3000/", ["https_required", "special_use_name"]],
  ])("on this machine must still obey all other rules: %s, %j", (url, expected) => {
    expect(codes(url, true)).toEqual(expected);
  });

  test("has one normalized form, so two spellings are the same endpoint", () => {
    expect(normalizeEndpointUrl("HTTPS://Shop.Example.com:443")).toBe("https://shop.example.com/");
    expect(normalizeEndpointUrl("https://shop.example.com/a/../b")).toBe("https://shop.example.com/b");
    expect(normalizeEndpointUrl("https://shop.example.com/Hooks?a=1")).not.toBe(
      normalizeEndpointUrl("https://shop.example.com/hooks?a=1"),
    );
  });
});

describe("the addresses that the URL's name resolves to", () => {
  const resolved = async (
    addresses: readonly string[],
    url = "https://shop.example.com/",
  ): Promise<readonly string[]> =>
    (
      await findNonPublicHostAddressFaults(url, {
        isLoopbackAllowed: false,
        resolve: async () => addresses,
      })
    ).map(({ code }) => code);

  test("must all be public", async () => {
    expect(await resolved(["8.8.8.8", "2606:4700:4700::1111"])).toEqual([]);
    expect(await resolved(["10.0.0.1"])).toEqual(["resolves_inside"]);
    expect(await resolved(["8.8.8.8", "127.0.0.1"])).toEqual(["resolves_inside"]);
    expect(await resolved(["::ffff:169.254.169.254"])).toEqual(["resolves_inside"]);
  });

  test("may be missing at registration: the delivery will report it", async () => {
    expect(await resolved([])).toEqual([]);
    const failing = { isLoopbackAllowed: false, resolve: () => Promise.reject(new Error("SERVFAIL")) };
    expect(await findNonPublicHostAddressFaults("https://shop.example.com/", failing)).toEqual([]);
    const hanging = { isLoopbackAllowed: false, timeoutMs: 5, resolve: () => new Promise<never>(() => {}) };
    expect(await findNonPublicHostAddressFaults("https://shop.example.com/", hanging)).toEqual([]);
  });

  test("are not looked up for an allowed receiver on this machine", async () => {
    const resolve = (): never => expect.unreachable();
    expect(
      await findNonPublicHostAddressFaults("http://localhost:3000/", { isLoopbackAllowed: true, resolve }),
    ).toEqual([]);
  });

  test("may not be this machine's, also if loopback is allowed", async () => {
    const faults = await findNonPublicHostAddressFaults("https://shop.example.com/", {
      isLoopbackAllowed: true,
      resolve: async () => ["127.0.0.1"],
    });
    expect(faults.map(({ code }) => code)).toEqual(["resolves_inside"]);
  });
});
