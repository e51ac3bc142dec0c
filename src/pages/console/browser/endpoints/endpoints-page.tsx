/** The webhook endpoints of an installation, and the way to another one. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { nodesOf } from "#pages/console/browser/graph/documents.ts";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { InstallationChoice } from "#pages/console/browser/installation/installation-choice.tsx";
import { installationsDocument, type InstallationName } from "#pages/console/browser/installation/installation-documents.ts";
import { Empty, Loaded } from "#pages/console/browser/parts/tables.tsx";
import { go, Heading, type Place } from "#pages/console/browser/navigation.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { EndpointList } from "./endpoint-list.tsx";
import { SecretShown } from "./secret-shown.tsx";
import type { EndpointWithSecret } from "./endpoint-documents.ts";

export function EndpointsPage({ place }: { readonly place: Place }): JSX.Element {
  const installations = useQuery(installationsDocument, {});
  return (
    <>
      <Heading title="Webhooks" />
      <p class="lead">What happens in the shop is sent to the addresses that an app registers, signed with a secret of each.</p>
      <Loaded asked={installations} what="installations">
        {({ installations: connection }) => {
          const all = nodesOf(connection);
          const chosen = all.find(({ id }) => id === place.query.get("installation")) ?? all[0];
          if (chosen === undefined) return <Empty>No app is installed yet. Endpoints belong to the installation of an app.</Empty>;
          return <InstallationEndpoints key={chosen.id} installation={chosen} all={all} />;
        }}
      </Loaded>
    </>
  );
}

interface InstallationEndpointsProps {
  readonly installation: InstallationName;
  readonly all: readonly InstallationName[];
}

function InstallationEndpoints({ installation, all }: InstallationEndpointsProps): JSX.Element {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<EndpointWithSecret>();
  const [changes, setChanges] = useState(0);
  return (
    <section aria-labelledby="endpoints-heading">
      <div class="bar">
        <InstallationChoice all={all} chosen={installation} room="/endpoints" />
        <button type="button" onClick={() => setMaking(true)} disabled={installation.status === "UNINSTALLED"}>
          Register an endpoint
        </button>
      </div>
      <h2 id="endpoints-heading" class="hidden">
        Endpoints of {installation.app.name}
      </h2>
      <EndpointList installationId={installation.id} changes={changes} />
      {isMaking ? (
        <EndpointForm
          installationId={installation.id}
          onClose={() => setMaking(false)}
          onMade={(answer) => {
            setMaking(false);
            setMade(answer);
            setChanges(changes + 1);
          }}
        />
      ) : null}
      {made === undefined ? null : (
        <SecretShown
          title="The endpoint is registered"
          note="A ping is on its way to it."
          secret={made.secret.value}
          onClose={() => {
            setMade(undefined);
            go(`/endpoints/${made.endpoint.id}`);
          }}
        />
      )}
    </section>
  );
}
