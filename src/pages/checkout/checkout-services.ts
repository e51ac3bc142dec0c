/** What the checkout page needs of the floors beside and below it: the graph, run as the buyer of one session, and rules that the graph has no field for. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { BuyerViewer } from "#access/viewer.ts";
import type { DoOnce } from "#database/idempotency.ts";
import type { Database } from "#database/connect.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { FailureDetail } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";

export interface AskedOfGraph {
  readonly viewer: BuyerViewer;
  readonly requestId: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Throws the failure of the one root field; else its value. */
export type RunField = <Value>(asked: AskedOfGraph, transaction?: Transaction) => Promise<Value>;

/** A session as its secret finds it. */
export interface SessionPage {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly cartId: string;
  /** Of the cookie of the browser that has it; null: nobody has done anything there. */
  readonly holderDigest: Buffer | null;
}

export interface PageHolder {
  readonly sessionId: string;
  readonly digest: Buffer;
  /** Also where another browser has it. */
  readonly takesOver: boolean;
}

export type AddressPart =
  | "recipientName"
  | "company"
  | "line1"
  | "line2"
  | "line3"
  | "district"
  | "city"
  | "regionCode"
  | "postalCode"
  | "countryCode"
  | "phone"
  | "email";

export type TypedAddress = Readonly<Partial<Record<AddressPart, string>>>;

export interface AddressForm {
  readonly fields: readonly { readonly name: AddressPart; readonly isRequired: boolean }[];
  readonly regions: readonly { readonly code: string; readonly name: string; readonly localName: string }[];
}

/** Each throws `rate_limited` when it is used up. */
export interface CheckoutLimits {
  readonly takeAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Before it is told that a secret is none. */
  readonly requireSecretsLeft: (request: FastifyRequest) => Promise<void>;
  readonly countWrongSecret: (request: FastifyRequest) => Promise<void>;
  /** Before a promotion code is tried, by cart and by address. */
  readonly requireCodesLeft: (request: FastifyRequest, cartId: string) => Promise<void>;
  readonly countWrongCode: (request: FastifyRequest, cartId: string) => Promise<void>;
}

export interface CheckoutServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly publicUrl: string;
  readonly doOnce: DoOnce;
  /** Compiles a document of one root field. */
  readonly compile: (document: string) => RunField;
  readonly findPage: (reader: Reader, secret: string) => Promise<SessionPage | undefined>;
  /** False: another browser has it. */
  readonly holdPage: (transaction: Transaction, holder: PageHolder) => Promise<boolean>;
  readonly addressForm: (countryCode: string) => AddressForm;
  /** What the strict rules of its country say against it. */
  readonly addressFaults: (address: TypedAddress) => readonly FailureDetail[];
  readonly limits: CheckoutLimits;
}
