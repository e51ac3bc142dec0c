/**
 * Shows why an error code occurs and how to fix the error. The text is part of the documentation's page about
 * errors, which is loaded from this service.
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";

interface ErrorExplanationProps {
  readonly code: string;
  readonly docUrl: string | null;
}

export function ApiRequestErrorExplanation({ code, docUrl }: ErrorExplanationProps): JSX.Element {
  const entry = useErrorEntry(code);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (entry !== undefined) place.current?.replaceChildren(...entry);
  }, [entry]);
  return (
    <section aria-labelledby="error">
      <h2 id="error">
        Error <code>{code}</code>
      </h2>
      <div class="card error-entry">
        <div ref={place} />
        {docUrl === null ? null : (
          <p>
            <a href={docUrl}>{code} in the documentation</a>
          </p>
        )}
      </div>
    </section>
  );
}

/**
 * Loads the documentation's text about an error code. Undefined or empty while there is no text, for example
 * because it cannot be loaded. The page also has a link to the documentation.
 */
function useErrorEntry(code: string): readonly Node[] | undefined {
  const [entry, setEntry] = useState<readonly Node[]>();
  useEffect(() => {
    let isCurrent = true;
    loadErrorEntry(code).then(
      (nodes) => isCurrent && setEntry(nodes),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [code]);
  return entry;
}

async function loadErrorEntry(code: string): Promise<readonly Node[]> {
  const response = await fetch(`${basePath}/docs/errors`, { headers: { accept: "text/html" } });
  if (!response.ok) return [];
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const section = page.getElementById(code);
  return section === null
    ? []
    : [...section.querySelectorAll("p:not(.soft)")].map((node) => document.importNode(node, true));
}
