/** Properties are tried on the same cases in every run, so that what was green stays green; PROPERTY_SEED tries others. */
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? 20_261_121) });
