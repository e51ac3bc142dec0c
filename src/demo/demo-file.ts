/**
 * `demo.json`: what somebody needs to try the demo, secrets included, so it is readable by its owner only. It
 * is written whole or not at all, and parts that this version does not know are kept.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { toFolderError } from "#database/folder-lock.ts";

const demoMerchant = z.object({ id: z.string(), slug: z.string() });

const demoProduct = z.object({
  merchantSlug: z.string(),
  productSlug: z.string(),
  title: z.string(),
  sku: z.string(),
});
export type DemoProduct = z.infer<typeof demoProduct>;

export const demoCartNames = [
  "active",
  "activeSecond",
  "empty",
  "locked",
  "completed",
  "revoked",
  "expired",
  "merged",
  "otherMerchant",
] as const;

export const demoSessionNames = [
  "open",
  "processing",
  "completed",
  "canceled",
  "expired",
  "otherMerchant",
] as const;
export type DemoSessionName = (typeof demoSessionNames)[number];

export const demoOrderNames = [
  "placed",
  "packing",
  "shipped",
  "delivered",
  "canceled",
  "returned",
  "otherMerchant",
] as const;
export type DemoOrderName = (typeof demoOrderNames)[number];

export const demoDeliveryNames = ["succeeded", "exhausted", "retrying"] as const;
export type DemoDeliveryName = (typeof demoDeliveryNames)[number];

export const demoPromotionCodeNames = [
  "percentage",
  "fixedAmount",
  "freeShipping",
  "minimumSubtotal",
  "ended",
  "exhausted",
  "otherMerchant",
] as const;
export type DemoPromotionCodeName = (typeof demoPromotionCodeNames)[number];

const demoFile = z.looseObject({
  baseUrl: z.string(),
  /**
   * Of the first merchant's installation, but `otherMerchant`; with all four scopes unless the name says
   * which one.
   */
  keys: z.object({
    full: z.string(),
    catalogRead: z.string(),
    checkoutQuote: z.string(),
    webhooksRead: z.string(),
    webhooksWrite: z.string(),
    noScope: z.string(),
    expired: z.string(),
    revoked: z.string(),
    otherMerchant: z.string(),
  }),
  tokens: z.object({ storefront: z.string(), admin: z.string(), analyst: z.string(), operator: z.string() }),
  merchants: z.object({ first: demoMerchant, second: demoMerchant }),
  products: z.array(demoProduct),
  /** Of the first merchant, but `otherMerchant`; each in the state that its name says. */
  carts: z.record(z.enum(demoCartNames), z.string()),
  /**
   * As with carts. That of `open` is the checkout of the cart `locked`, that of `completed` the one of the
   * cart `completed`.
   */
  sessions: z.record(z.enum(demoSessionNames), z.string()),
  /** As with carts. That of `delivered` was the cart `completed`. */
  orders: z.record(z.enum(demoOrderNames), z.string()),
  /** As a buyer types them; of the first merchant, but `otherMerchant`. */
  promotionCodes: z.record(z.enum(demoPromotionCodeNames), z.string()),
  /** Of the first merchant's installation; its receiver does not listen. */
  webhooks: z.object({ endpoint: z.string(), deliveries: z.record(z.enum(demoDeliveryNames), z.string()) }),
  /** Of the first merchant: who signs in where an app asks to be let in. */
  staff: z.object({ email: z.string(), password: z.string() }),
  /** Of the app that both merchants have installed. */
  oauthClient: z.object({ clientId: z.string(), redirectUri: z.string() }),
});
export type DemoFile = z.infer<typeof demoFile>;
export type DemoPromotionCodes = DemoFile["promotionCodes"];

/** An earlier version's file has fewer parts. */
const partialDemoFile = demoFile.partial({
  carts: true,
  sessions: true,
  orders: true,
  promotionCodes: true,
  webhooks: true,
  staff: true,
  oauthClient: true,
});
export type PartialDemoFile = z.infer<typeof partialDemoFile>;

export function getDemoFilePath(folder: string): string {
  return join(folder, "demo.json");
}

/**
 * Makes the folder where it is missing and throws FolderUnusable where nothing can be written: known before
 * the secrets are that belong there.
 */
export function makeDemoFolder(folder: string): void {
  const probe = createTemporaryPath(folder);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(probe, "", { mode: 0o600, flag: "wx" });
    rmSync(probe);
  } catch (error) {
    throw toFolderError(folder, error);
  }
}

/** Undefined where there is none; throws where it is not what it should be. */
export function readDemoFile(folder: string): PartialDemoFile | undefined {
  const path = getDemoFilePath(folder);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  const parsed = partialDemoFile.safeParse(parseJson(text));
  if (!parsed.success)
    throw new Error(
      `${path} is damaged; delete it together with the database beside it to seed the demo anew.`,
    );
  return parsed.data;
}

export function writeDemoFile(folder: string, demo: PartialDemoFile): void {
  const draft = createTemporaryPath(folder);
  try {
    writeFileSync(draft, `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    renameSync(draft, getDemoFilePath(folder));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** At each start: the same keys under the address that holds now. Undefined where there is no file to refresh. */
export function refreshDemoFile(folder: string, baseUrl: string): PartialDemoFile | undefined {
  const demo = readDemoFile(folder);
  if (demo === undefined) return undefined;
  const refreshed = { ...demo, baseUrl };
  writeDemoFile(folder, refreshed);
  return refreshed;
}

const createTemporaryPath = (folder: string): string =>
  `${getDemoFilePath(folder)}.${process.pid}.${randomBytes(4).toString("hex")}`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
