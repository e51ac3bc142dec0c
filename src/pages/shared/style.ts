/** What every page looks like: the colours of light and dark, text, forms and buttons. A room adds its own sheet for what only it has. */
import { createHash } from "node:crypto";

export const style = `
:root { color-scheme: light dark; --ground: #f4f4f6; --sheet: #fff; --ink: #1b1b1f; --soft: #54545e; --line: #8c8c98; --mark: #0b57d0; --on-mark: #fff; --fault: #b3261e; --good: #146c2e; --warn: #7a4d00; --code: #ececf0; }
@media (prefers-color-scheme: dark) { :root { --ground: #131316; --sheet: #1e1e23; --ink: #ececf1; --soft: #b9b9c4; --line: #82828f; --mark: #a8c7fa; --on-mark: #062e6f; --fault: #ffb4ab; --good: #7ddb8f; --warn: #f2bf6f; --code: #2a2a31; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 30rem; margin: 2rem auto; padding: 1.5rem; background: var(--sheet); border-radius: 0.75rem; }
.wide main { max-width: none; margin: 0; padding: 0; background: transparent; border-radius: 0; }
.wide { padding: 0; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 0.25rem; font-size: 1rem; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); }
label, legend { font-weight: 600; }
.field { margin: 0 0 1rem; }
.field input { display: block; width: 100%; margin-top: 0.25rem; padding: 0.625rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 0.5rem; }
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; }
legend { margin: 0 0 0.5rem; padding: 0; }
.scope { display: grid; grid-template-columns: auto 1fr; gap: 0 0.75rem; padding: 0.75rem 0; border-top: 1px solid var(--line); }
.scope input { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--mark); }
.scope span { grid-column: 2; color: var(--soft); }
button { width: 100%; min-height: 2.75rem; margin: 0 0 0.75rem; padding: 0.5rem 1rem; font: inherit; font-weight: 600; border: 1px solid var(--mark); border-radius: 0.5rem; background: var(--mark); color: var(--on-mark); cursor: pointer; }
button.second { background: transparent; color: var(--mark); }
button.third { border-color: transparent; background: transparent; color: var(--mark); font-weight: 400; margin: 0; }
a { color: var(--mark); }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.faults { margin: 0 0 1.5rem; padding: 0.75rem 1rem; border: 2px solid var(--fault); border-radius: 0.5rem; }
.faults p { margin: 0; }
.faults a { color: var(--fault); }
@media (max-width: 30rem) { body:not(.wide) { padding: 0; background: var(--sheet); } body:not(.wide) main { margin: 0; padding: 1.25rem; border-radius: 0; } }
`;

/** As a Content-Security-Policy names it. */
export const styleHash = `sha256-${createHash("sha256").update(style).digest("base64")}`;
