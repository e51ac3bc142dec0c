/** The console's frame (navigation, signed-in person, sign-out) and the page for the current address. */
import type { ComponentChildren, JSX } from "preact";
import { DeliveryPage } from "./deliveries/delivery-page.tsx";
import { EndpointPage } from "./endpoints/endpoint-page.tsx";
import { EndpointsPage } from "./endpoints/endpoints-page.tsx";
import { InstallationPage } from "./installations/installation-page.tsx";
import { InstallationsPage } from "./installations/installations-page.tsx";
import { KeysPage } from "./keys/keys-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { PageHeading, ConsoleLink, type ConsoleLocation, useConsoleLocation } from "./navigation.tsx";
import { consolePath } from "./graph/client.ts";

export function ConsoleApp({ person }: { readonly person: Person }): JSX.Element {
  const place = useConsoleLocation();
  return (
    <Frame person={person} place={place}>
      <PageAt key={place.parts.join("/")} place={place} />
    </Frame>
  );
}

function PageAt({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const [page, id, rest] = place.parts;
  if (rest !== undefined) return <UnknownPage />;
  if (id !== undefined) {
    if (page === "installations") return <InstallationPage id={id} />;
    if (page === "endpoints") return <EndpointPage id={id} />;
    if (page === "deliveries") return <DeliveryPage id={id} />;
    return <UnknownPage />;
  }
  if (page === undefined) return <OverviewPage />;
  if (page === "installations") return <InstallationsPage />;
  if (page === "keys") return <KeysPage place={place} />;
  if (page === "endpoints") return <EndpointsPage place={place} />;
  return <UnknownPage />;
}

function UnknownPage(): JSX.Element {
  return (
    <>
      <PageHeading title="This page does not exist" />
      <p>
        The console has no page with this address. <ConsoleLink to="">Go to the overview</ConsoleLink>.
      </p>
    </>
  );
}

/** The frame of every console page: the merchant's name, the navigation, and the sign-out button. */
interface Person {
  readonly merchantName: string;
  readonly staffName: string;
  readonly staffEmail: string;
}

interface FrameProps {
  readonly person: Person;
  readonly place: ConsoleLocation;
  readonly children: ComponentChildren;
}

const rooms = [
  { to: "", name: "Overview", parts: [undefined] },
  { to: "/installations", name: "Installations", parts: ["installations"] },
  { to: "/keys", name: "API keys", parts: ["keys"] },
  { to: "/endpoints", name: "Webhooks", parts: ["endpoints", "deliveries"] },
] as const;

function Frame({ person, place, children }: FrameProps): JSX.Element {
  const isHere = (parts: readonly (string | undefined)[]): boolean => parts.includes(place.parts[0]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <p class="brand">
          <strong>{person.merchantName}</strong> <span>Console</span>
        </p>
        <nav aria-label="Console">
          <ul>
            {rooms.map(({ to, name, parts }) => (
              <li key={to}>
                <ConsoleLink to={to} aria-current={isHere(parts) ? "page" : undefined}>
                  {name}
                </ConsoleLink>
              </li>
            ))}
          </ul>
        </nav>
        <div class="person">
          <p>
            <span>{person.staffName}</span> <span class="soft">{person.staffEmail}</span>
          </p>
          <form method="post" action={`${consolePath}/sign-out`}>
            <button class="plain">Sign out</button>
          </form>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
