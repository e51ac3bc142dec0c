import { describe, expect, test } from "vitest";
import {
  isIpAddressAllowedForEndpointHost,
  isLoopbackHost,
  isPublicIpAddress,
  isSameIpAddress,
} from "#webhooks/safe-addresses.ts";

describe("addresses allowed for webhooks", () => {
  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "168.63.129.15",
    "168.63.129.17",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "::ffff:8.8.8.8",
  ])("%s is public", (address) => {
    expect(isPublicIpAddress(address)).toBe(true);
  });

  test.each([
    ["this network", "0.0.0.0"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["carrier NAT", "100.64.0.1"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["metadata", "169.254.169.254"],
    ["Azure's platform", "168.63.129.16"],
    ["protocol assignments", "192.0.0.1"],
    ["documentation", "192.0.2.1"],
    ["benchmarking", "198.18.0.1"],
    ["documentation", "203.0.113.1"],
    ["multicast", "224.0.0.1"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["mapped loopback", "::ffff:127.0.0.1"],
    ["mapped loopback in hex", "::ffff:7f00:1"],
    ["mapped private", "::ffff:10.0.0.1"],
    ["mapped metadata", "::ffff:a9fe:a9fe"],
    ["mapped platform", "::ffff:168.63.129.16"],
    ["compatible loopback", "::7f00:1"],
    ["compatible metadata", "::169.254.169.254"],
    ["translated", "::ffff:0:127.0.0.1"],
    ["NAT64", "64:ff9b::7f00:1"],
    ["NAT64 of the network's own", "64:ff9b:1::7f00:1"],
    ["6to4", "2002:7f00:1::1"],
    ["Teredo", "2001::1"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["unique local", "fc00::1"],
    ["metadata", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["public with a zone", "2606:4700:4700::1111%eth0"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["discard", "100::1"],
    ["segment routing", "5f00::1"],
    ["given to nobody", "4000::1"],
    ["given to nobody", "e000::1"],
    ["no address", "127.1"],
    ["no address", "0x08080808"],
    ["no address", "134744072"],
    ["no address", ""],
    ["no address", "example.com"],
  ])("%s is blocked: %s", (_, address) => {
    expect(isPublicIpAddress(address)).toBe(false);
  });

  test("loopback is allowed only if configured, and only to a host that names this machine itself", () => {
    const allowed = { isLoopbackAllowed: true };
    expect(isIpAddressAllowedForEndpointHost("127.0.0.1", { host: "localhost", ...allowed })).toBe(true);
    expect(isIpAddressAllowedForEndpointHost("::1", { host: "[::1]", ...allowed })).toBe(true);
    expect(isIpAddressAllowedForEndpointHost("127.0.0.2", { host: "127.0.0.2", ...allowed })).toBe(true);
    expect(
      isIpAddressAllowedForEndpointHost("127.0.0.1", { host: "localhost", isLoopbackAllowed: false }),
    ).toBe(false);
    expect(isIpAddressAllowedForEndpointHost("127.0.0.1", { host: "shop.example.com", ...allowed })).toBe(
      false,
    );
    expect(isIpAddressAllowedForEndpointHost("10.0.0.1", { host: "10.0.0.1", ...allowed })).toBe(false);
    expect(isIpAddressAllowedForEndpointHost("169.254.169.254", { host: "localhost", ...allowed })).toBe(
      false,
    );
    expect(isIpAddressAllowedForEndpointHost("8.8.8.8", { host: "localhost", ...allowed })).toBe(false);
    expect(isIpAddressAllowedForEndpointHost("8.8.8.8", { host: "shop.example.com", ...allowed })).toBe(true);
    expect(isIpAddressAllowedForEndpointHost("", { host: "localhost", ...allowed })).toBe(false);
  });

  test("names of this machine are known in all their canonical spellings", () => {
    expect(["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"].map(isLoopbackHost)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(
      [
        "foo.localhost",
        "localhost.example.com",
        "10.0.0.1",
        "[::2]",
        "[::ffff:7f00:1]",
        "::ffff:7f00:1",
        "127.1",
      ].map(isLoopbackHost),
    ).toEqual([false, false, false, false, false, false, false]);
  });

  test("an address is recognized in every spelling", () => {
    expect(isSameIpAddress("::ffff:192.0.2.1", "192.0.2.1")).toBe(true);
    expect(isSameIpAddress("2606:4700::1", "2606:4700:0:0::1")).toBe(true);
    expect(isSameIpAddress("192.0.2.1", "192.0.2.2")).toBe(false);
    expect(isSameIpAddress("", "192.0.2.2")).toBe(false);
    expect(isSameIpAddress("192.0.2.2", "")).toBe(false);
    expect(isSameIpAddress("", "")).toBe(false);
  });
});
