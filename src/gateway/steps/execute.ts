/** Runs the operation's compiled document with the variables that validation made. */
import { type Step } from "#gateway/call.ts";

export const execute: Step = {
  name: "execute",
  phase: "body",
  appliesTo: ({ isIdempotent }) => !isIdempotent,
  create: ({ compile }, operation) => {
    const run = compile(operation);
    return async (call) => {
      call.result = await run(call);
    };
  },
};
