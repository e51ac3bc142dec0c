/**
 * Scenarios of `@modelcontextprotocol/conformance` that cannot pass, with the reason. They test things that
 * the test server of the suite has, and that a service with real tools does not have. docs/guides/agents.md
 * lists them too.
 */
import type { ProtocolEra } from "./mcp-client.ts";

export interface ExemptScenarios {
  readonly reason: string;
  readonly scenarios: readonly string[];
}

/** Scenarios that need tools, resources or prompts of the suite's test server. */
const testContent: ExemptScenarios = {
  reason:
    "These scenarios call tools, prompts or resources of the suite's own test server, such as `test_simple_text`.",
  scenarios: [
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "json-schema-2020-12",
  ],
};

const completion: ExemptScenarios = {
  reason: 'The MCP feature "completion" is optional, and the server does not declare it.',
  scenarios: ["completion-complete"],
};

export const exemptScenarios: Readonly<Record<ProtocolEra, readonly ExemptScenarios[]>> = {
  "2025-11-25": [
    testContent,
    completion,
    {
      reason: 'The MCP feature "logging" is optional, and the server does not declare it.',
      scenarios: ["logging-set-level", "tools-call-with-logging"],
    },
    {
      reason: "No operation of this service asks the agent's model or its user for input.",
      scenarios: [
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
      ],
    },
    {
      reason:
        "The server's resources never change while a process runs, so agents need not subscribe to resources.",
      scenarios: ["resources-subscribe", "resources-unsubscribe"],
    },
  ],
  "2026-07-28": [
    testContent,
    completion,
    {
      reason:
        "The scenario `server-stateless` has 30 checks. Four of the 30 checks need diagnostic tools of the " +
        "suite's test server. Two of the 30 checks need an open subscription, which this server refuses because its " +
        "tools, resources and prompts never change.",
      scenarios: ["server-stateless"],
    },
    {
      reason: "No operation of this service asks the agent's model or its user for input.",
      scenarios: [
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
      ],
    },
    {
      reason: "The MCP extension for tasks is optional, and every operation of this service answers at once.",
      scenarios: [
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
      ],
    },
    {
      reason: "No tool of this service takes arguments from HTTP headers (`x-mcp-header`).",
      scenarios: ["http-custom-header-server-validation"],
    },
  ],
};
