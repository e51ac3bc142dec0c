/**
 * The guarantees about standards of security and about the supply chain. figure-list.ts has the other
 * guarantees.
 */
import { type MeasuredGuarantee, measureBySuite } from "./guarantee.ts";

export const securityGuarantees: readonly MeasuredGuarantee[] = [
  {
    number: 33,
    promise:
      "Of the 120 server modules of the OpenID Foundation's conformance suite for the FAPI 2.0 Security Profile " +
      "and OpenID Connect, 81 apply to the authorization server. The authorization server gives the suite's " +
      "result for 73 of them, and another documented answer for 8. `test/oauth/conformance-modules.ts` lists " +
      "all modules with the reasons, for example that the server issues no ID tokens.",
    measurements: [{ ...measureBySuite("conformance"), atLeast: { passed: 81 } }],
    shortTests: ["test/oauth/conformance.test.ts"],
  },
  {
    number: 34,
    promise:
      "Every package of a production installation has an allowed licence and is listed in the software bill of " +
      "materials (CycloneDX) that `npm run sbom` prints. Two builds of the same source have the same bytes. " +
      "`npm audit` finds no known vulnerability of production packages that is rated high or critical; this " +
      "row has no values if the package registry does not offer this service.",
    measurements: [
      measureBySuite("supply-chain"),
      {
        name: "known-vulnerabilities",
        command: "npm audit --omit=dev --audit-level=high",
        engines: [null],
        atMost: { high: 0, critical: 0 },
      },
    ],
    shortTests: ["test/supply-chain/supply-chain.test.ts"],
  },
];
