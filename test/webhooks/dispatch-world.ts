/** Inserts endpoints and events, and replaces the sender with a fake that plays their receivers. */
import { createEncryptionKeyring, type EncryptionKeyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import { createLog } from "#foundation/log.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import type { WebhookDispatcherOptions } from "#webhooks/dispatch/round.ts";
import { createWebhookDispatcher, type WebhookDispatcher } from "#webhooks/dispatch/dispatcher.ts";
import type { EventType } from "#webhooks/event-types.ts";
import type { DeliverySendResult, WebhookHttpRequest } from "#webhooks/safe-request.ts";
import { createWebhookSecret, createWebhookSecretHint } from "#webhooks/signatures.ts";
import { TestClock } from "#test/support/test-clock.ts";

export const arrived: DeliverySendResult = {
  httpStatus: 204,
  errorCode: null,
  durationMs: 3,
  retryAfterSeconds: null,
};
export const refused = (httpStatus = 500, retryAfterSeconds: number | null = null): DeliverySendResult => ({
  httpStatus,
  errorCode: "http_status",
  durationMs: 3,
  retryAfterSeconds,
});

export type Answer = (request: WebhookHttpRequest) => DeliverySendResult | Promise<DeliverySendResult>;

export interface DispatchWorld {
  readonly database: OpenedDatabase;
  readonly clock: TestClock;
  readonly keyring: EncryptionKeyring;
  /** The setting ENCRYPTION_KEYS of processes that send the deliveries of this world. */
  readonly encryptionKeys: string;
  readonly sent: WebhookHttpRequest[];
  /** The fake receivers' answer to the following requests. */
  answer: Answer;
  dispatcher(parts?: Partial<WebhookDispatcherOptions>): WebhookDispatcher;
  merchant(): Promise<Installed>;
  endpoint(installed: Installed, row?: EndpointRow): Promise<EndpointMade>;
  event(installed: Pick<Installed, "merchantId">, row?: EventRow): Promise<string>;
}

export interface Installed {
  readonly merchantId: string;
  readonly installationId: string;
}

export interface EndpointMade {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

interface EndpointRow {
  /** The endpoint's URL; a unique URL by default. */
  readonly url?: string;
  readonly eventTypes?: string[];
  readonly status?: "enabled" | "disabled" | "deleted";
  readonly payloadMode?: "snapshot" | "thin";
  readonly maxPerSecond?: number;
}

interface EventRow {
  readonly type?: EventType;
  readonly subjectId?: string;
  readonly subjectType?: string;
  readonly installationId?: string;
}

export function createDispatchWorld(database: OpenedDatabase): DispatchWorld {
  const { db } = database;
  const clock = new TestClock();
  const key = Buffer.alloc(32, 7);
  const keyring = createEncryptionKeyring([{ id: "k1", key }]);
  const sent: WebhookHttpRequest[] = [];
  const world: DispatchWorld = {
    database,
    clock,
    keyring,
    encryptionKeys: `k1:${key.toString("base64")}`,
    sent,
    answer: () => arrived,
    dispatcher: (parts = {}) =>
      createWebhookDispatcher({
        db,
        clock,
        keyring,
        log: createLog("silent"),
        scale: 1,
        random: () => 0.5,
        render: () => Promise.resolve({ version: 1 }),
        sender: {
          send: async (request) => {
            sent.push(request);
            return world.answer(request);
          },
          close: () => Promise.resolve(),
        },
        ...parts,
      }),
    merchant: async () => {
      const at = clock.now();
      const [merchantId, installationId, appId] = [
        createId("merchant"),
        createId("installation"),
        createId("app"),
      ];
      const named = { name: "Shop", createdAt: at, updatedAt: at };
      await db
        .insertInto("merchant")
        .values({
          ...named,
          id: merchantId,
          slug: merchantId.replace("_", "-"),
          mode: "test",
          defaultLocale: "en",
          defaultMarket: "DE",
        })
        .execute();
      await db.insertInto("app").values({ id: appId, name: "App", createdAt: at }).execute();
      const scopes = ["catalog:read"];
      await db
        .insertInto("installation")
        .values({ id: installationId, merchantId, appId, scopes, installedAt: at, updatedAt: at })
        .execute();
      return { merchantId, installationId };
    },
    endpoint: async (
      { merchantId, installationId },
      { eventTypes = ["*"], status = "enabled", url: urlWanted, ...row } = {},
    ) => {
      const at = clock.now();
      const [id, secretId, secret] = [
        createId("webhookEndpoint"),
        createId("webhookSecret"),
        createWebhookSecret(),
      ];
      const url = urlWanted ?? `https://${id.replace("_", "-")}.example.com/hooks`;
      const off =
        status === "disabled"
          ? { disabledReason: "manual" as const, disabledAt: at }
          : { disabledReason: null, disabledAt: null };
      const owner = { merchantId, installationId };
      await db
        .insertInto("webhookEndpoint")
        .values({
          id,
          ...owner,
          url,
          urlNormalized: url,
          description: null,
          status,
          ...off,
          eventTypes,
          maxPerSecond: 100,
          ...row,
          createdAt: at,
          updatedAt: at,
        })
        .execute();
      await db
        .insertInto("webhookEndpointHealth")
        .values({ endpointId: id, installationId, tokensAt: at })
        .execute();
      const sealed = keyring.seal(secret, { table: "webhook_secret", column: "sealed", rowId: secretId });
      await db
        .insertInto("webhookSecret")
        .values({
          id: secretId,
          endpointId: id,
          version: 1,
          ...sealed,
          hint: createWebhookSecretHint(secret),
          createdAt: at,
          expiresAt: null,
        })
        .execute();
      return { id, url, secret };
    },
    event: async (
      { merchantId },
      { type = "order.placed", subjectId = createId("order"), subjectType = "order", installationId } = {},
    ) => {
      const id = createId("event", clock.now().getTime());
      const body = (data: object): string => JSON.stringify({ id, type, data });
      await db
        .insertInto("event")
        .values({
          id,
          merchantId,
          installationId: installationId ?? null,
          type,
          schemaVersion: 1,
          subjectType,
          subjectId,
          subjectVersion: 1,
          snapshot: body({ object: { id: subjectId, note: "Grüße" } }),
          thin: body({ object: { id: subjectId } }),
          occurredAt: clock.now(),
          fannedOutAt: null,
        })
        .execute();
      return id;
    },
  };
  return world;
}
