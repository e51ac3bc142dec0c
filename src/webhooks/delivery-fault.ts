/** Why an attempt had no answer: what the attempt's row and the merchant get to read. The cause is never shown. */
export type AttemptErrorCode = "timeout" | "dns" | "tls" | "connection" | "http_status" | "blocked_address" | "redirect";

export class DeliveryFault extends Error {
  readonly errorCode: AttemptErrorCode;

  constructor(errorCode: AttemptErrorCode, cause?: unknown) {
    super(`The webhook did not arrive: ${errorCode}.`, { cause });
    this.name = "DeliveryFault";
    this.errorCode = errorCode;
  }
}
