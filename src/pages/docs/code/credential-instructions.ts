/**
 * Renders the shell command that sets a variable to the API key. The code examples use this variable. The
 * page never shows the key itself.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { renderCodeBlock } from "./code-block.ts";

/**
 * A shell command that sets the variable KEY to the demo's API key. It reads the key from demo.json in the
 * service's data folder.
 */
const demoKeyLine = `export KEY=$(node -p '
  const folder = process.env.DATA_DIR ?? ".data";
  JSON.parse(fs.readFileSync(folder + "/demo.json", "utf8")).keys.full')`;
const ownKeyLine = "export KEY=cpk_…";

export function renderCredentialInstructions(
  credential: "key" | "token",
  { isDemo, home }: { readonly isDemo: boolean; readonly home: string },
): PreEscapedHtml {
  if (credential === "token")
    return html`<p>
      <code>ACCESS_TOKEN</code> and <code>DPOP_PROOF</code> are an access token and a proof made for this
      request: the <a href="${home}/guides/oauth">OAuth guide</a> shows how an app gets both.
    </p>`;
  return isDemo
    ? html`<p>Set the demo's key once per terminal, in the folder where you started the service:</p>
        ${renderCodeBlock(demoKeyLine, "Shell")}`
    : html`<p>Set your key once per terminal:</p>
        ${renderCodeBlock(ownKeyLine, "Shell")}`;
}
