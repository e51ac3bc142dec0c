/**
 * The way of a REST request, in order. A new policy is one line here. Idempotency (replay or claim) has its place between validate and execute:
 * everything that can refuse a request for its form comes before it, nothing that has an effect does.
 */
import { type Step } from "#gateway/call.ts";
import { answer } from "./answer.ts";
import { execute } from "./execute.ts";
import { identify } from "./identify.ts";
import { limitByAddress } from "./limit-by-address.ts";
import { limitByKey } from "./limit-by-key.ts";
import { requireScope } from "./require-scope.ts";
import { validate } from "./validate.ts";

export const steps: readonly Step[] = [limitByAddress, identify, limitByKey, requireScope, validate, execute, answer];
