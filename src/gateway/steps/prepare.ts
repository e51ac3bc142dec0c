/** Asks beforehand what a change will want to know from outside of the database: inside of its transaction nobody may wait for a network. */
import { type Step } from "#gateway/call.ts";

export const prepare: Step = {
  name: "prepare",
  phase: "body",
  appliesTo: ({ isIdempotent }) => isIdempotent,
  create:
    (services, { id }) =>
    (call) =>
      services.prepare(id, call.variables["body"]),
};
