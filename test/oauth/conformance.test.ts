/**
 * The server modules of the OpenID Foundation's conformance suite for the FAPI 2.0 Security Profile and for
 * OpenID Connect, by name. Every module of the list is run, or has the reason for which it does not apply.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { securityGuarantees } from "#soak/security-guarantees.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createSuiteClient } from "./conformance-driver.ts";
import { fapiChecks, type ConformanceCheck, type SuiteWorld } from "./conformance-fapi-checks.ts";
import { type ConformancePlan, conformancePlans } from "./conformance-modules.ts";
import { openidChecks } from "./conformance-openid-checks.ts";

const world = useWorld();
let suite: SuiteWorld | undefined;
beforeAll(async () => {
  const first = await createSuiteClient(world());
  suite = { world: world(), first, second: await createSuiteClient(world(), first.person) };
});

const plans: readonly (readonly [ConformancePlan, Readonly<Record<string, ConformanceCheck>>])[] = [
  [conformancePlans.fapi, fapiChecks],
  [conformancePlans.openid, openidChecks],
];

async function expectAnswers(check: ConformanceCheck | undefined): Promise<void> {
  if (check === undefined || suite === undefined) throw new Error("The module has no check.");
  await check(suite);
}

/** The number of modules of each plan in the suite. */
const sizes = { fapi: 62, openid: 58 };

it("the lists have as many modules as guarantee 33 of docs/figures.md says", () => {
  const modules = Object.values(conformancePlans).flatMap((plan) => plan.modules);
  const count = (part: "doesNotApply" | "departs"): number =>
    modules.filter((module) => module[part] !== undefined).length;
  const [skipped, departing] = [count("doesNotApply"), count("departs")];
  const { promise = "" } = securityGuarantees.find(({ number }) => number === 33) ?? {};
  const applying = modules.length - skipped;
  expect(promise).toContain(`Of the ${modules.length} server modules`);
  expect(promise).toContain(`${applying} apply to the authorization server`);
  expect(promise).toContain(
    `result for ${applying - departing} of them, and another documented answer for ${departing}.`,
  );
});

describe.each(plans)("the plan $title", ({ prefix, modules }, checks) => {
  const names = modules.map(({ name }) => name);

  it("is listed completely, each module once, and each with a check or a reason", () => {
    expect(new Set(names).size).toBe(names.length);
    const size = prefix === conformancePlans.fapi.prefix ? sizes.fapi : sizes.openid;
    expect(names).toHaveLength(size);
    expect(
      modules.filter(
        ({ name, doesNotApply }) => Object.hasOwn(checks, name) === (doesNotApply !== undefined),
      ),
    ).toEqual([]);
    expect(Object.keys(checks).filter((name) => !names.includes(name))).toEqual([]);
  });

  const modulesToRun = modules.filter(({ doesNotApply }) => doesNotApply === undefined);
  it.each(modulesToRun.map(({ name }) => [prefix + name, name] as const))(
    "expects the answers of this server to the module %s",
    (_module, name) => expectAnswers(checks[name]),
  );
});
