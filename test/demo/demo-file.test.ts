/** demo.json survives restarts, can be read only by its owner, and is written atomically. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type PartialDemoJsonFileContent,
  type DemoJsonFileContent,
  getDemoJsonFilePath,
  readDemoJsonFile,
  writeDemoJsonFile,
} from "#demo/demo-file.ts";

const demo: DemoJsonFileContent = {
  baseUrl: "http://127.0.0.1:4000",
  keys: {
    full: "k1",
    catalogRead: "k2",
    checkoutQuote: "k3",
    webhooksRead: "k4",
    webhooksWrite: "k5",
    noScope: "k6",
    expired: "k7",
    revoked: "k8",
    otherMerchant: "k9",
  },
  tokens: { storefront: "t1", browser: "t5", admin: "t2", analyst: "t3", operator: "t4" },
  merchants: { first: { id: "mer_1", slug: "one" }, second: { id: "mer_2", slug: "two" } },
  products: [{ merchantSlug: "one", productSlug: "thing", title: "Thing", sku: "T-1" }],
  carts: {
    active: "c1",
    activeSecond: "c2",
    empty: "c3",
    locked: "c4",
    completed: "c5",
    revoked: "c6",
    expired: "c7",
    merged: "c8",
    otherMerchant: "c9",
  },
  sessions: {
    open: "s1",
    processing: "s2",
    completed: "s3",
    canceled: "s4",
    expired: "s5",
    otherMerchant: "s6",
  },
  checkout: { url: "https://api.test/checkout/secret" },
  orders: {
    placed: "o1",
    packing: "o2",
    shipped: "o3",
    delivered: "o4",
    canceled: "o5",
    returned: "o6",
    otherMerchant: "o7",
  },
  promotionCodes: {
    percentage: "p1",
    fixedAmount: "p2",
    freeShipping: "p3",
    minimumSubtotal: "p4",
    ended: "p5",
    exhausted: "p6",
    otherMerchant: "p7",
  },
  webhooks: { endpoint: "w1", deliveries: { succeeded: "d1", exhausted: "d2", retrying: "d3" } },
  staff: { email: "s1@one.example", password: "s2" },
  oauthClient: { clientId: "oac_1", redirectUri: "http://127.0.0.1:4010/callback" },
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "demo-file-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it("reads the written content from a file that only its owner can read", () => {
  writeDemoJsonFile(folder, demo);
  expect(readDemoJsonFile(folder)).toEqual(demo);
  expect(statSync(getDemoJsonFilePath(folder)).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["demo.json"]);
});

it("replaces a file that other users could read", () => {
  writeFileSync(getDemoJsonFilePath(folder), "{}", { mode: 0o644 });
  writeDemoJsonFile(folder, demo);
  expect(statSync(getDemoJsonFilePath(folder)).mode & 0o777).toBe(0o600);
});

it("returns undefined if demo.json does not exist", () => {
  expect(readDemoJsonFile(folder)).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  [
    "carts, orders, promotion codes and webhooks",
    ["carts", "sessions", "orders", "promotionCodes", "webhooks"],
  ],
  ["sessions, orders and webhooks", ["sessions", "orders", "webhooks"]],
  ["webhooks", ["webhooks"]],
  ["staff and OAuth client", ["staff", "oauthClient"]],
] as const)("reads the file of a version that had no %s", (_what, names) => {
  const earlier = Object.fromEntries(
    Object.entries(demo).filter(([name]) => !names.some((missing) => missing === name)),
  ) as PartialDemoJsonFileContent;
  writeFileSync(getDemoJsonFilePath(folder), JSON.stringify(earlier));
  expect(readDemoJsonFile(folder)).toEqual(earlier);
});

it.each(["", "{", "null", '{"baseUrl":1}'])("reports a damaged file: %j", (text) => {
  writeFileSync(getDemoJsonFilePath(folder), text);
  expect(() => readDemoJsonFile(folder)).toThrow("demo.json is damaged");
  expect(readFileSync(getDemoJsonFilePath(folder), "utf8")).toBe(text);
});
