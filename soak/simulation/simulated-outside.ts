/**
 * The services outside: a webhook receiver that checks signatures and bytes, and the network between the
 * service and its payment provider. Each request is an event; the seed decides its delay and its failure.
 */
import { Webhook } from "standardwebhooks";
import type { ExternalRequestReplacements } from "#app/background.ts";
import type { PaymentProvider } from "#commerce/payments/provider.ts";
import type { DeliverySendResult, WebhookHttpRequest } from "#webhooks/safe-request.ts";
import type { VirtualWorld } from "./virtual-world.ts";

const networkMsMax = 8;
/** The URL of the endpoint whose deliveries the receiver checks. */
export const receiverUrl = "http://127.0.0.1:9999/hooks";

export interface OutsideFaults {
  /** The probability that a webhook gets an error, or that its request or answer is lost. */
  webhook: number;
  /** The probability that a request to the payment provider or its answer is lost. */
  payment: number;
}

export class SimulatedOutside {
  readonly faults: OutsideFaults = { webhook: 0, payment: 0 };
  readonly counts = { webhooks: 0, "failed webhooks": 0, payments: 0, "failed payments": 0 };
  readonly violations: string[] = [];
  /** The ids of the events that the receiver has accepted. */
  readonly accepted = new Set<string>();
  readonly #bodies = new Map<string, string>();
  readonly #world: VirtualWorld;
  readonly #secret: string;

  constructor(world: VirtualWorld, secret: string) {
    this.#world = world;
    this.#secret = secret;
  }

  connect(): ExternalRequestReplacements {
    return {
      webhookSender: { send: (request) => this.#receive(request), close: () => Promise.resolve() },
      wrapTestProvider: (provider) => ({
        authorize: (request) => this.#pay("authorize", () => provider.authorize(request)),
        capture: (request) => this.#pay("capture", () => provider.capture(request)),
        void: (request) => this.#pay("void", () => provider.void(request)),
        refund: (request) => this.#pay("refund", () => provider.refund(request)),
        lookup: (request) => this.#pay("lookup", () => provider.lookup(request)),
      }),
    };
  }

  async #pay<Result>(kind: keyof PaymentProvider, send: () => Promise<Result>): Promise<Result> {
    const { random } = this.#world;
    await this.#world.wait(networkMsMax, `payment ${kind}`);
    this.counts.payments += 1;
    if (random.chance(this.faults.payment / 2)) return this.#losePayment("request to the provider lost");
    const result = await send();
    await this.#world.wait(networkMsMax, `payment ${kind} answered`);
    if (random.chance(this.faults.payment / 2)) return this.#losePayment("answer of the provider lost");
    return result;
  }

  #losePayment(what: string): never {
    this.counts["failed payments"] += 1;
    this.#world.note(what);
    throw new Error("The payment provider did not answer.");
  }

  async #receive({ url, headers, body }: WebhookHttpRequest): Promise<DeliverySendResult> {
    // The demo has an endpoint too, which has another secret and receives only a few types of events.
    if (url !== receiverUrl) return succeeded;
    const { random } = this.#world;
    const id = String(headers["webhook-id"]);
    await this.#world.wait(networkMsMax, `webhook ${id} ${headers["webhook-event-type"]}`);
    this.counts.webhooks += 1;
    const fault = random.chance(this.faults.webhook)
      ? random.pick(["lost", "error", "unanswered"])
      : undefined;
    if (fault === "lost") return this.#failWebhook(null);
    this.#check(id, headers, String(body));
    if (fault === "error") return this.#failWebhook(500);
    this.accepted.add(id);
    await this.#world.wait(networkMsMax, `webhook ${id} answered`);
    return fault === "unanswered" ? this.#failWebhook(null) : succeeded;
  }

  #failWebhook(httpStatus: number | null): DeliverySendResult {
    this.counts["failed webhooks"] += 1;
    this.#world.note(`webhook failed with ${httpStatus ?? "no answer"}`);
    return { ...succeeded, httpStatus, errorCode: httpStatus === null ? "connection" : "http_status" };
  }

  #check(id: string, headers: WebhookHttpRequest["headers"], body: string): void {
    try {
      new Webhook(this.#secret).verify(body, { ...headers });
    } catch {
      this.violations.push(`The webhook ${id} has a wrong signature.`);
    }
    const before = this.#bodies.get(id);
    if (before !== undefined && before !== body)
      this.violations.push(`The webhook ${id} was repeated with other bytes.`);
    this.#bodies.set(id, body);
  }
}

const succeeded: DeliverySendResult = {
  httpStatus: 204,
  errorCode: null,
  durationMs: 1,
  retryAfterSeconds: null,
};
