/** The key by which anonymous callers are counted. */
import { describe, expect, it } from "vitest";
import { toClientAddressKey, getClientAddress } from "#http/caller.ts";

describe("the client's address", () => {
  it.each([
    ["the socket's, with no proxy to trust", 0, "1.1.1.1", "9.9.9.9"],
    ["the last one, with one proxy", 1, "1.1.1.1, 2.2.2.2", "2.2.2.2"],
    ["the second from the end, with two proxies", 2, "1.1.1.1, 2.2.2.2, 3.3.3.3", "2.2.2.2"],
    ["the socket's, if the header has too few addresses", 3, "1.1.1.1, 2.2.2.2", "9.9.9.9"],
    ["the socket's, without the header", 2, undefined, "9.9.9.9"],
    ["read without the port of IPv4", 1, "1.1.1.1, 2.2.2.2:5678", "2.2.2.2"],
    ["read without the port of IPv6", 1, "[2001:db8::1]:443", "2001:db8::1"],
    ["read without brackets", 1, "[2001:db8::1]", "2001:db8::1"],
    ["unchanged for IPv6 without brackets", 1, "2001:db8::1:443", "2001:db8::1:443"],
    ["read without spaces or with many", 1, "1.1.1.1,   2.2.2.2  ", "2.2.2.2"],
  ])("is %s", (_name, proxies, forwardedFor, expected) => {
    expect(getClientAddress("9.9.9.9", forwardedFor, proxies)).toBe(expected);
  });

  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["::1", "0:0:0:0::/64"],
    ["no address", "unknown"],
    ["", "unknown"],
  ])("of %s counts as %s", (address, key) => {
    expect(toClientAddressKey(address)).toBe(key);
  });
});
