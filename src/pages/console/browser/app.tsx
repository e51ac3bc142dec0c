/** The console: which page stands at an address. */
import type { JSX } from "preact";
import { DeliveryPage } from "./deliveries/delivery-page.tsx";
import { EndpointPage } from "./endpoints/endpoint-page.tsx";
import { EndpointsPage } from "./endpoints/endpoints-page.tsx";
import { InstallationPage } from "./installation/installation-page.tsx";
import { InstallationsPage } from "./installation/installations-page.tsx";
import { KeysPage } from "./keys/keys-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { Frame, type Person } from "./shell/frame.tsx";
import { Heading } from "./shell/heading.tsx";
import { Link, type Place, usePlace } from "./shell/router.tsx";

export function App({ person }: { readonly person: Person }): JSX.Element {
  const place = usePlace();
  return (
    <Frame person={person} place={place}>
      <PageAt key={place.parts.join("/")} place={place} />
    </Frame>
  );
}

function PageAt({ place }: { readonly place: Place }): JSX.Element {
  const [room, id, more] = place.parts;
  if (more !== undefined) return <Nowhere />;
  if (id !== undefined) {
    if (room === "installations") return <InstallationPage id={id} />;
    if (room === "endpoints") return <EndpointPage id={id} />;
    if (room === "deliveries") return <DeliveryPage id={id} />;
    return <Nowhere />;
  }
  if (room === undefined) return <OverviewPage />;
  if (room === "installations") return <InstallationsPage />;
  if (room === "keys") return <KeysPage place={place} />;
  if (room === "endpoints") return <EndpointsPage place={place} />;
  return <Nowhere />;
}

function Nowhere(): JSX.Element {
  return (
    <>
      <Heading title="There is nothing here" />
      <p>
        The address leads to no page of the console. <Link to="">Go to the overview</Link>.
      </p>
    </>
  );
}
