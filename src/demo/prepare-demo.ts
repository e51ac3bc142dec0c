/**
 * Prepares the demo at the start of the service: adds the demo data to an empty database, and writes
 * demo.json. For parts that are missing in demo.json, creates new keys, tokens, accounts, carts, orders and
 * webhooks. Existing objects are not used for these parts. Their secrets cannot be read from the database,
 * and users may have changed carts, orders and deliveries.
 */
import { sql } from "kysely";
import { getCheckoutPageUrlIfOpen } from "#commerce/checkout/render-session.ts";
import { findCheckoutSessions } from "#commerce/checkout/session-aggregate.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction, type DatabaseOrTransaction, type Transaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { EventSubjectRenderer } from "#webhooks/outbox.ts";
import { seedDemoCarts } from "./carts/seed-carts.ts";
import { type DemoOrderSeedContext, seedOpenCheckoutSession, seedDemoOrders } from "./orders/seed-orders.ts";
import {
  type DemoCredentialSeedContext,
  createDemoCredentials,
  type DemoMerchantsWithInstalledApp,
  seedDemoStaffAndOauthClient,
} from "./seed-credentials.ts";
import { seedDemoWebhooks } from "./webhooks/seed-webhooks.ts";
import {
  type PartialDemoJsonFileContent,
  demoCartNames,
  type DemoJsonFileContent,
  createWritableDemoFolder,
  readDemoJsonFile,
  writeDemoJsonFile,
} from "./demo-file.ts";
import { listDemoProducts, seedDemo } from "./seed-demo.ts";

/** The services and settings that are needed to prepare the demo, except the database. */
export interface PrepareDemoOptions {
  readonly dataDir: string;
  readonly publicUrl: string;
  readonly now: Date;
  /** The keyring that encrypts the personal data and the secrets of the demo. */
  readonly keyring: EncryptionKeyring;
  /** The function that renders the objects in webhook events, for example an order. */
  readonly render: EventSubjectRenderer;
}

/**
 * The slugs of the two merchants in data/merchants.json. They are also written here, so that the service does
 * not have to read that file at each start.
 */
const demoMerchantSlugs = { first: "lindenhof", second: "morgenrot" } as const;

const seedingLockKey = 7_462_193_016;

/**
 * Prepares the demo, writes demo.json and returns its content. In a database whose merchants are not those of
 * the demo, adds no data and only writes the current base URL into an existing demo.json. In this case,
 * returns undefined if there is no demo.json.
 */
export async function prepareDemoDataAndFile(
  { db }: OpenedDatabase,
  { dataDir, publicUrl, now, keyring, render }: PrepareDemoOptions,
): Promise<DemoJsonFileContent | undefined> {
  // A data folder is created only for a database with the demo, or for an empty database. A service on
  // PostgreSQL without a demo needs no data folder.
  if ((await findDemoMerchants(db)) !== undefined || (await hasNoMerchant(db)))
    createWritableDemoFolder(dataDir);
  const knownFile = readDemoJsonFile(dataDir);
  const newParts = await runInTransaction(
    db,
    async (transaction): Promise<Partial<DemoJsonFileContent> | undefined> => {
      // The advisory lock prevents two processes that start at the same time from both adding the demo data.
      await sql`select pg_advisory_xact_lock(${seedingLockKey})`.execute(transaction);
      const merchants = (await findDemoMerchants(transaction)) ?? (await seedDemoIfEmpty(transaction, now));
      if (merchants === undefined) return undefined;
      const isKnown = knownFile?.merchants.first.id === merchants.first.id;
      const knownParts: Partial<PartialDemoJsonFileContent> = isKnown ? knownFile : {};
      const credentials = isKnown ? {} : await createMerchantParts(transaction, { merchants, now });
      const salesParts = await createSalesParts(transaction, {
        knownParts,
        owners: merchants,
        keyring,
        publicUrl,
        now,
      });
      const { orders, webhooks } = { ...knownParts, ...salesParts };
      const hasWebhooks = orders === undefined || webhooks !== undefined;
      const webhookParts = hasWebhooks
        ? {}
        : await seedDemoWebhooks(transaction, { owner: merchants.first, orders, keyring, render, now });
      const hasAccounts = knownParts.staff !== undefined && knownParts.oauthClient !== undefined;
      const accountParts = hasAccounts
        ? {}
        : await seedDemoStaffAndOauthClient(transaction, { owner: merchants.first, now });
      const parts = { ...credentials, ...salesParts, ...webhookParts, ...accountParts };
      const context = { owners: merchants, keyring, publicUrl, now };
      return { ...parts, ...(await renewOpenCheckout(transaction, context, { ...knownParts, ...parts })) };
    },
  );
  if (newParts === undefined && knownFile === undefined) return undefined;
  const demo = { ...knownFile, ...newParts, baseUrl: publicUrl } as DemoJsonFileContent;
  writeDemoJsonFile(dataDir, demo);
  return demo;
}

/**
 * Returns the URL of the demo's open checkout session. Opens a new session if the existing one has ended; a
 * session ends after at most a day.
 */
async function renewOpenCheckout(
  transaction: Transaction,
  owner: Omit<DemoOrderSeedContext, "promotionCodes">,
  { carts, sessions, promotionCodes }: Partial<PartialDemoJsonFileContent>,
): Promise<Partial<Pick<DemoJsonFileContent, "carts" | "sessions" | "checkout">>> {
  if (carts === undefined || sessions === undefined || promotionCodes === undefined) return {};
  const context = { ...owner, promotionCodes };
  const findUrl = async (id: string): Promise<string | null> => {
    const session = (await findCheckoutSessions(transaction, [id])).get(id);
    return session === undefined ? null : getCheckoutPageUrlIfOpen(session, context);
  };
  const url = await findUrl(sessions.open);
  if (url !== null) return { checkout: { url } };
  const opened = await seedOpenCheckoutSession(transaction, context);
  const openedUrl = opened === undefined ? null : await findUrl(opened.sessionId);
  if (opened === undefined || openedUrl === null) return {};
  return {
    carts: { ...carts, locked: opened.cartId },
    sessions: { ...sessions, open: opened.sessionId },
    checkout: { url: openedUrl },
  };
}

async function findDemoMerchants(
  db: DatabaseOrTransaction,
): Promise<DemoMerchantsWithInstalledApp | undefined> {
  const merchants = await db
    .selectFrom("merchant")
    .innerJoin("installation", "installation.merchantId", "merchant.id")
    .select(["merchant.id", "merchant.slug", "installation.id as installationId"])
    .where("merchant.slug", "in", [demoMerchantSlugs.first, demoMerchantSlugs.second])
    .where("installation.status", "=", "active")
    .orderBy("installation.id")
    .execute();
  const first = merchants.find(({ slug }) => slug === demoMerchantSlugs.first);
  const second = merchants.find(({ slug }) => slug === demoMerchantSlugs.second);
  return first === undefined || second === undefined ? undefined : { first, second };
}

async function hasNoMerchant(db: DatabaseOrTransaction): Promise<boolean> {
  return (await db.selectFrom("merchant").select("id").limit(1).executeTakeFirst()) === undefined;
}

async function seedDemoIfEmpty(
  transaction: Transaction,
  now: Date,
): Promise<DemoMerchantsWithInstalledApp | undefined> {
  if (!(await hasNoMerchant(transaction))) return undefined;
  const { merchants, installations, productIds } = await seedDemo(transaction, { now });
  await indexProducts(transaction, productIds, now);
  return {
    first: { ...merchants.first, installationId: installations.first },
    second: { ...merchants.second, installationId: installations.second },
  };
}

async function createMerchantParts(
  transaction: Transaction,
  { merchants, now }: DemoCredentialSeedContext,
): Promise<Pick<DemoJsonFileContent, "keys" | "tokens" | "merchants" | "products">> {
  return {
    ...(await createDemoCredentials(transaction, { merchants, now })),
    merchants: toDemoFileMerchants(merchants),
    products: listDemoProducts(),
  };
}

interface SalesContext extends Omit<DemoOrderSeedContext, "promotionCodes"> {
  /** The objects and secrets that the existing demo.json lists. */
  readonly knownParts: Partial<PartialDemoJsonFileContent>;
}

/**
 * Creates the demo's carts, checkouts and orders that demo.json does not list. Checkouts and orders, with the
 * two carts that belong to them, are also created if the other carts have just been created.
 */
async function createSalesParts(
  transaction: Transaction,
  { knownParts, ...context }: SalesContext,
): Promise<Partial<DemoJsonFileContent>> {
  const { carts, promotionCodes } = knownParts;
  const seeded =
    carts === undefined || promotionCodes === undefined
      ? await seedDemoCarts(transaction, context)
      : { carts, promotionCodes };
  if (seeded.carts === carts && knownParts.sessions !== undefined && knownParts.orders !== undefined)
    return {};
  const orders = await seedDemoOrders(transaction, { ...context, promotionCodes: seeded.promotionCodes });
  const cartIds: Partial<DemoJsonFileContent["carts"]> = { ...seeded.carts, ...orders.carts };
  return {
    ...seeded,
    ...orders,
    carts: Object.fromEntries(
      demoCartNames.map((name) => [name, cartIds[name]]),
    ) as DemoJsonFileContent["carts"],
  };
}

const toDemoFileMerchants = ({
  first,
  second,
}: DemoMerchantsWithInstalledApp): DemoJsonFileContent["merchants"] => ({
  first: { id: first.id, slug: first.slug },
  second: { id: second.id, slug: second.slug },
});
