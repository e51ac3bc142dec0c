/** How the graph's words are told to people. */

/** `AUTO_DISABLED` → “Auto disabled”. */
export const wordOf = (value: string): string => {
  const words = value
    .toLowerCase()
    .replaceAll("_", " ")
    .replace(/\bapi\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** “1 key”, “2 keys”. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export type Tone = "good" | "warn" | "fault" | "plain";

const tones: Readonly<Record<string, Tone>> = {
  ACTIVE: "good",
  READY: "good",
  ENABLED: "good",
  HEALTHY: "good",
  SUCCEEDED: "good",
  PASS: "good",
  DEGRADED: "warn",
  WARN: "warn",
  RETRYING: "warn",
  SUSPENDED: "warn",
  EXPIRING: "warn",
  AUTO_DISABLED: "fault",
  ACTION_REQUIRED: "fault",
  BLOCKED: "fault",
  FAILING: "fault",
  FAIL: "fault",
  EXHAUSTED: "fault",
  REVOKED: "fault",
};

export const toneOf = (value: string): Tone => tones[value] ?? "plain";

const failures: Readonly<Record<string, string>> = {
  TIMEOUT: "No answer in time",
  DNS: "The name leads nowhere",
  TLS: "The certificate is not good",
  CONNECTION: "No connection",
  HTTP_STATUS: "The answer was not 2xx",
  BLOCKED_ADDRESS: "An address that nothing is sent to",
  REDIRECT: "The answer was a redirect",
};

/** Why an attempt did not arrive. */
export function failureWord(errorCode: string, httpStatus: number | null): string {
  if (errorCode.toUpperCase() === "HTTP_STATUS" && httpStatus !== null) return `Answered ${httpStatus}`;
  return failures[errorCode.toUpperCase()] ?? wordOf(errorCode);
}
