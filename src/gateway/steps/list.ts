/**
 * The way of a REST request, in order. A new policy is one line here. Everything that can refuse a request for its form comes before it is
 * executed or replayed, and nothing that has an effect does.
 */
import { type Step } from "#gateway/call.ts";
import { answer } from "./answer.ts";
import { execute } from "./execute.ts";
import { identify } from "./identify.ts";
import { limitByAddress } from "./limit-by-address.ts";
import { limitByKey } from "./limit-by-key.ts";
import { limitFailures } from "./limit-failures.ts";
import { requireIdempotencyKey } from "./require-idempotency-key.ts";
import { requireScope } from "./require-scope.ts";
import { validate } from "./validate.ts";

export const steps: readonly Step[] = [
  limitByAddress,
  identify,
  limitByKey,
  requireScope,
  requireIdempotencyKey,
  validate,
  limitFailures,
  execute,
  answer,
];
