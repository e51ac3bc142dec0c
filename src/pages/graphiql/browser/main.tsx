/** GraphiQL's page: the editor, and around it what the graph's own rules need: a token, examples for its role, and what each run cost. */
import { type JSX, render } from "preact";
import { useState } from "preact/hooks";
import "./graphiql.css";
import { drawEditor, openInNewTab } from "./editor.ts";
import { ExamplePicker } from "./example-picker.tsx";
import { createFetcher, type Run } from "./fetcher.ts";
import { type GraphiqlData, readPageData } from "./page-data.ts";
import { StatusLine } from "./status-line.tsx";
import { TokenButton, TokenDialog, useKeeper } from "./token-dialog.tsx";
import { TokenKeeper } from "./token-keeper.ts";

interface Tools {
  readonly keeper: TokenKeeper;
  readonly data: GraphiqlData;
}

function Tools({ keeper, data }: Tools): JSX.Element {
  useKeeper(keeper);
  const [isPicking, setPicking] = useState(false);
  return (
    <>
      <button type="button" class="tool" aria-haspopup="dialog" onClick={() => setPicking(true)}>
        Examples…
      </button>
      <TokenButton keeper={keeper} />
      <TokenDialog keeper={keeper} />
      {isPicking ? (
        <ExamplePicker
          groups={data.groups}
          role={keeper.holder?.role}
          onClose={() => setPicking(false)}
          onPick={(example) => {
            setPicking(false);
            void openInNewTab(example);
          }}
        />
      ) : null}
    </>
  );
}

/** Else the page would say for ever that the editor is on its way. */
function showMissing(place: Element): void {
  place.replaceChildren();
  render(
    <p class="waiting fault" role="alert">
      GraphiQL could not be loaded. Check your connection and load the page again.
    </p>,
    place,
  );
}

async function begin(): Promise<void> {
  const [tools, foot, place] = ["tools", "foot", "editor"].map((id) => document.getElementById(id));
  if (!tools || !foot || !place) return;
  const data = readPageData() as GraphiqlData;
  const keeper = new TokenKeeper(data.endpoint);
  const show = (run?: Run): void => render(<StatusLine run={run} />, foot);
  render(<Tools keeper={keeper} data={data} />, tools);
  show();
  const editor = drawEditor(place, data, createFetcher(keeper, show)).catch(() => showMissing(place));
  await Promise.all([keeper.begin(), editor]);
}

void begin();
