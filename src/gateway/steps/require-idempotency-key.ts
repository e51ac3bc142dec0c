/** Reads the Idempotency-Key, before the body is: without one nothing that changes something may start. */
import { fail, type FailureDetail } from "#foundation/failure.ts";
import { parseIdempotencyKey } from "#foundation/idempotency-key.ts";
import { type Step } from "#gateway/call.ts";

const headerName = "Idempotency-Key";

export const requireIdempotencyKey: Step = {
  name: "require idempotency key",
  phase: "headers",
  appliesTo: ({ isIdempotent }) => isIdempotent,
  create: () => (call) => {
    // Node joins two lines to `a, b`, which would be a key of its own.
    const { rawHeaders } = call.request.raw;
    const lines = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === headerName.toLowerCase());
    const [line, second] = lines;
    if (line === undefined) {
      const message = `${headerName} is required: a new one for each change, the same one for each retry of it.`;
      throw fail("idempotency_key_required", { message, details: [detail("required", message)] });
    }
    const key = second === undefined ? parseIdempotencyKey(line) : undefined;
    if (key === undefined) {
      const [code, rule] =
        second === undefined
          ? ["pattern_mismatch", 'has 1 to 255 printable ASCII characters, without space, ", \\, comma and semicolon']
          : ["duplicate", "stands in a request once"];
      const message = `${headerName} ${rule}.`;
      throw fail("idempotency_key_invalid", { message, details: [detail(code, message)] });
    }
    call.idempotencyKey = key;
  },
};

const detail = (code: string, message: string): FailureDetail => ({ in: "header", field: headerName, code, message });
