/**
 * Reads and writes `demo.json`, which contains the ids and secrets that a developer needs to try the demo.
 * Only the owner of the file can read it. The file is always replaced as a whole, so that readers never see a
 * half-written file. Parts that another version of the service has written are kept.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { toDataFolderUnusableError } from "#database/folder-lock.ts";

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
export type DemoCheckoutSessionName = (typeof demoSessionNames)[number];

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
export type DemoWebhookDeliveryName = (typeof demoDeliveryNames)[number];

export const demoPromotionCodeKeys = [
  "percentage",
  "fixedAmount",
  "freeShipping",
  "minimumSubtotal",
  "ended",
  "exhausted",
  "otherMerchant",
] as const;
export type DemoPromotionCodeName = (typeof demoPromotionCodeKeys)[number];

const demoFile = z.looseObject({
  baseUrl: z.string(),
  /**
   * API keys by name. The key `otherMerchant` belongs to the app's installation at the demo's second
   * merchant, all other keys to its installation at the first merchant. A key has all four scopes, unless its
   * name says something else, for example `catalogRead` or `noScope`.
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
  tokens: z.object({
    storefront: z.string(),
    /** The publishable token; an empty text if the demo data is from a version before 0.2. */
    browser: z.string().default(""),
    admin: z.string(),
    analyst: z.string(),
    operator: z.string(),
  }),
  merchants: z.object({ first: demoMerchant, second: demoMerchant }),
  products: z.array(demoProduct),
  /**
   * Cart ids by name; each name describes the state of its cart. The cart `otherMerchant` belongs to the
   * second merchant, all others to the first.
   */
  carts: z.record(z.enum(demoCartNames), z.string()),
  /**
   * Ids of checkout sessions; the name of each describes its state. The session `open` was started for the
   * cart `locked`, the session `completed` for the cart `completed`.
   */
  sessions: z.record(z.enum(demoSessionNames), z.string()),
  /**
   * The URL of the checkout page for the checkout session `open`; it can be opened without a credential. Left
   * out if no session could be opened, for example because its products are sold out.
   */
  checkout: z.object({ url: z.string() }).optional(),
  /**
   * Ids of orders; the name of each describes its state. The order `delivered` was placed with the cart
   * `completed`.
   */
  orders: z.record(z.enum(demoOrderNames), z.string()),
  /**
   * Promotion codes by name. The code `otherMerchant` belongs to the second merchant, all others to the
   * first.
   */
  promotionCodes: z.record(z.enum(demoPromotionCodeKeys), z.string()),
  /**
   * The id of the webhook endpoint of the app that the first merchant has installed, and the ids of the
   * deliveries to this endpoint. No server listens at the endpoint's URL.
   */
  webhooks: z.object({ endpoint: z.string(), deliveries: z.record(z.enum(demoDeliveryNames), z.string()) }),
  /**
   * The e-mail address and password with which a staff member of the first merchant signs in, for example to
   * authorize an app.
   */
  staff: z.object({ email: z.string(), password: z.string() }),
  /** The OAuth client of the app that both merchants have installed. */
  oauthClient: z.object({ clientId: z.string(), redirectUri: z.string() }),
});
export type DemoJsonFileContent = z.infer<typeof demoFile>;
export type DemoPromotionCodes = DemoJsonFileContent["promotionCodes"];

/** The schema of a demo.json that an earlier version of the service wrote. Some of its parts may be missing. */
const partialDemoFile = demoFile.partial({
  carts: true,
  sessions: true,
  orders: true,
  promotionCodes: true,
  webhooks: true,
  staff: true,
  oauthClient: true,
});
export type PartialDemoJsonFileContent = z.infer<typeof partialDemoFile>;

export function getDemoJsonFilePath(folder: string): string {
  return join(folder, "demo.json");
}

/**
 * Creates the folder if it is missing. Throws `DataFolderUnusableError` if the folder cannot be written to,
 * so that this error occurs before any secret is created.
 */
export function createWritableDemoFolder(folder: string): void {
  const probe = createTemporaryPath(folder);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(probe, "", { mode: 0o600, flag: "wx" });
    rmSync(probe);
  } catch (error) {
    throw toDataFolderUnusableError(folder, error);
  }
}

/**
 * Reads demo.json. Returns undefined if the file does not exist. Throws if the content of the file does not
 * have the expected form.
 */
export function readDemoJsonFile(folder: string): PartialDemoJsonFileContent | undefined {
  const path = getDemoJsonFilePath(folder);
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
      `${path} is damaged. Delete it together with the database beside it to seed the demo again.`,
    );
  return parsed.data;
}

export function writeDemoJsonFile(folder: string, demo: PartialDemoJsonFileContent): void {
  const draft = createTemporaryPath(folder);
  try {
    writeFileSync(draft, `${JSON.stringify(demo, undefined, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    renameSync(draft, getDemoJsonFilePath(folder));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

const createTemporaryPath = (folder: string): string =>
  `${getDemoJsonFilePath(folder)}.${process.pid}.${randomBytes(4).toString("hex")}`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
