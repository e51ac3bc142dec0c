/** The API keys of an installation. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { InstallationChoice } from "#pages/console/browser/installation/installation-choice.tsx";
import { installationsDocument, type InstallationName } from "#pages/console/browser/installation/installation-documents.ts";
import { Empty, Loaded } from "#pages/console/browser/parts/tables.tsx";
import { nodesOf } from "#pages/console/browser/graph/documents.ts";
import { Heading, type Place } from "#pages/console/browser/navigation.tsx";
import { CreateKey } from "./create-key.tsx";
import { KeyList } from "./key-list.tsx";

export function KeysPage({ place }: { readonly place: Place }): JSX.Element {
  const installations = useQuery(installationsDocument, {});
  return (
    <>
      <Heading title="API keys" />
      <p class="lead">An integration shows a key with each of its requests. Give each its own, so that one can be taken away without the others.</p>
      <Loaded asked={installations} what="installations">
        {({ installations: connection }) => {
          const all = nodesOf(connection);
          const chosen = all.find(({ id }) => id === place.query.get("installation")) ?? all[0];
          if (chosen === undefined) return <Empty>No app is installed yet. Keys belong to the installation of an app.</Empty>;
          return <InstallationKeys key={chosen.id} installation={chosen} all={all} />;
        }}
      </Loaded>
    </>
  );
}

function InstallationKeys({
  installation,
  all,
}: {
  readonly installation: InstallationName;
  readonly all: readonly InstallationName[];
}): JSX.Element {
  const [isMaking, setMaking] = useState(false);
  const [changes, setChanges] = useState(0);
  return (
    <section aria-labelledby="keys-heading">
      <div class="bar">
        <InstallationChoice all={all} chosen={installation} room="/keys" />
        <button type="button" onClick={() => setMaking(true)} disabled={installation.status === "UNINSTALLED"}>
          Create a key
        </button>
      </div>
      <h2 id="keys-heading" class="hidden">
        Keys of {installation.app.name}
      </h2>
      <KeyList installationId={installation.id} changes={changes} />
      {isMaking ? <CreateKey installation={installation} onMade={() => setChanges(changes + 1)} onClose={() => setMaking(false)} /> : null}
    </section>
  );
}
