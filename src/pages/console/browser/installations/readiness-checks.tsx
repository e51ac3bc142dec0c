/**
 * Shows the readiness checks of an app installation. A failed check has a link or button that leads to its
 * solution. Passed checks are in a section that is closed until the reader opens it.
 */
import type { JSX } from "preact";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import {
  formatEnumValue,
  formatLocalizedCountWithNoun,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import type { ConsoleInstallationReadiness, ConsoleReadinessCheck } from "./installation-documents.ts";

/** A button that solves a failed readiness check on the same page, for example by opening a dialog. */
export interface ReadinessCheckFixButton {
  readonly name: string;
  readonly run: () => void;
}

interface ReadinessProps {
  readonly readiness: ConsoleInstallationReadiness;
  /**
   * The buttons that solve failed readiness checks, by the code of the check. A button replaces the check's
   * link.
   */
  readonly steps?: Readonly<Record<string, ReadinessCheckFixButton | undefined>>;
}

const isOpen = ({ status }: ConsoleReadinessCheck): boolean => status === "FAIL" || status === "WARN";

export function ReadinessCheckList({ readiness, steps = {} }: ReadinessProps): JSX.Element {
  const open = readiness.checks.filter(isOpen);
  const well = readiness.checks.filter((check) => !isOpen(check));
  const skipped = well.filter(({ status }) => status === "SKIPPED").length;
  const item = (check: ConsoleReadinessCheck): JSX.Element => (
    <Check
      key={check.code}
      check={check}
      step={steps[check.code]}
      installationId={readiness.installationId}
    />
  );
  return (
    <div class="readiness">
      {open.length === 0 ? (
        <p>All checks passed: no action is needed.</p>
      ) : (
        <ul class="checks">{open.map(item)}</ul>
      )}
      <details>
        <summary>
          {formatLocalizedCountWithNoun(well.length - skipped, open.length === 0 ? "check" : "more check")}{" "}
          passed
          {skipped === 0 ? "" : `, ${skipped} skipped`}
        </summary>
        <ul class="checks">{well.map(item)}</ul>
      </details>
    </div>
  );
}

const labels: Readonly<Record<ConsoleReadinessCheck["status"], string>> = {
  PASS: "Passed",
  WARN: "Look at this",
  FAIL: "To be done",
  SKIPPED: "Skipped",
};

interface CheckWords {
  readonly title: string;
  /**
   * The instruction for the merchant's staff to solve a failed readiness check. It replaces the check's own
   * text, which is written for the app's developers.
   */
  readonly remedy?: string;
  /**
   * The link to the console page that solves the failed check; `{id}` is replaced by the id of the
   * installation.
   */
  readonly link?: { readonly name: string; readonly to: string };
  /**
   * The documentation's guide about the failed readiness check. The console links to the guide if it has no
   * page of its own for the check.
   */
  readonly guide?: { readonly name: string; readonly path: string };
}

const graphGuide = { name: "How to set this up with GraphQL", path: "/docs/guides/graphql" };

const checkWords: Readonly<Record<string, CheckWords>> = {
  API_KEY_ACTIVE: {
    title: "API key",
    link: { name: "Create an API key", to: "/keys?installation={id}" },
  },
  API_KEY_EXPIRY: {
    title: "Expiry of the API key",
    link: { name: "Rotate the API key", to: "/keys?installation={id}" },
  },
  SCOPES_GRANTED: {
    title: "Permissions",
    remedy: "The app and its API keys have different permissions. Make them equal, or create another key.",
    link: { name: "Compare with the API keys", to: "/keys?installation={id}" },
  },
  MERCHANT_ACTIVE: {
    title: "Shop and app are active",
    remedy: "Resume the installation when the app may work with your shop again.",
    link: { name: "Open the installation", to: "/installations/{id}" },
  },
  WEBHOOK_ENDPOINT_PRESENT: {
    title: "Webhook endpoint",
    link: { name: "Go to the webhook endpoints", to: "/endpoints?installation={id}" },
  },
  WEBHOOK_DELIVERY_HEALTHY: {
    title: "Webhook deliveries",
    link: { name: "See which endpoint fails", to: "/endpoints?installation={id}" },
  },
  WEBHOOK_SECRET_ROTATION: {
    title: "Age of the signing secrets",
    link: { name: "Rotate the secret of an endpoint", to: "/endpoints?installation={id}" },
  },
  PAYMENT_PROVIDER_CONNECTED: {
    title: "Payment provider",
    remedy: "Connect your account at Stripe, with the signing secret of its webhook endpoint.",
    link: { name: "Go to the payments", to: "/payments" },
  },
  TAX_CONFIGURED: { title: "Tax rates", remedy: "Set the tax rates of these countries.", guide: graphGuide },
  MARKET_CONFIGURED: {
    title: "Markets",
    remedy: "Create a market for the countries in which you sell.",
    guide: graphGuide,
  },
  POLICY_RETURN_CONFIGURED: {
    title: "Return policies",
    remedy: "Create a return policy for these markets.",
    guide: graphGuide,
  },
  CLOCK_SKEW: {
    title: "Clocks of the servers",
    remedy: "Ask the operator of the platform to synchronize the clocks.",
  },
};

export const getReadinessCheckTitle = (code: string): string =>
  checkWords[code]?.title ?? formatEnumValue(code);

interface CheckProps {
  readonly check: ConsoleReadinessCheck;
  readonly step: ReadinessCheckFixButton | undefined;
  readonly installationId: string;
}

function Check({ check, step, installationId }: CheckProps): JSX.Element {
  const { code, status, severity, message, remedy, since } = check;
  // A failed recommendation (severity ADVISORY) is shown as a warning, because the app works without it.
  const tone = status === "FAIL" && severity === "ADVISORY" ? { tone: "warn" as const } : {};
  const words = checkWords[code] ?? { title: getReadinessCheckTitle(code) };
  return (
    <li>
      <StatusBadge value={status} text={labels[status]} {...tone} />
      <div>
        <strong>{words.title}</strong>
        <p>
          {message}
          {since === null ? null : (
            <>
              {" "}
              Since <FormattedTime at={since} />.
            </>
          )}
        </p>
        {remedy === null ? null : (
          <p class="remedy">
            {words.remedy ?? remedy} <NextStep words={words} step={step} installationId={installationId} />
          </p>
        )}
      </div>
    </li>
  );
}

function NextStep({
  words: { link, guide },
  step,
  installationId,
}: Omit<CheckProps, "check"> & { readonly words: CheckWords }): JSX.Element | null {
  if (step !== undefined)
    return (
      <button type="button" class="plain" onClick={step.run}>
        {step.name}
      </button>
    );
  if (link !== undefined)
    return <ConsoleLink to={link.to.replace("{id}", installationId)}>{link.name}</ConsoleLink>;
  return guide === undefined ? null : <a href={basePath + guide.path}>{guide.name}</a>;
}
