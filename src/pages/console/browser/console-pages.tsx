/** The pages of the console, by the first part of their path below /console, and the links of the navigation. */
import type { JSX } from "preact";
import { AuditPage } from "./audit/audit-page.tsx";
import { BrandingPage } from "./branding/branding-page.tsx";
import { CartPage } from "./carts/cart-page.tsx";
import { CartsPage } from "./carts/carts-page.tsx";
import { DeliveryPage } from "./deliveries/delivery-page.tsx";
import { EndpointPage } from "./endpoints/endpoint-page.tsx";
import { EndpointsPage } from "./endpoints/endpoints-page.tsx";
import { ExportsPage } from "./exports/exports-page.tsx";
import { InstallationPage } from "./installations/installation-page.tsx";
import { InstallationsPage } from "./installations/installations-page.tsx";
import { ApiKeysPage } from "./keys/keys-page.tsx";
import type { ConsoleLocation } from "./navigation.tsx";
import { OrderPage } from "./orders/order-page.tsx";
import { OrdersPage } from "./orders/orders-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { PaymentsPage } from "./payments/payments-page.tsx";
import { ApiRequestPage } from "./requests/request-page.tsx";
import { ApiRequestsPage } from "./requests/requests-page.tsx";
import { ConsoleSearchPage } from "./search/search-page.tsx";
import { ReportsPage } from "./reports/reports-page.tsx";
import { StaffPage } from "./staff/staff-page.tsx";
import { TaxesPage } from "./taxes/taxes-page.tsx";

export interface ConsolePageDefinition {
  /**
   * The page at `/console/<part>`, which lists objects of one kind; undefined if this kind has no list page,
   * only pages of single objects.
   */
  readonly list?: (place: ConsoleLocation) => JSX.Element;
  /**
   * The page at `/console/<part>/<id>`, which shows one object; undefined if objects of this kind have no
   * page.
   */
  readonly detail?: (id: string, place: ConsoleLocation) => JSX.Element;
}

const reports: ConsolePageDefinition = { list: (place) => <ReportsPage place={place} /> };

const exports: ConsolePageDefinition = { list: () => <ExportsPage /> };

const consolePages: Readonly<Record<string, ConsolePageDefinition>> = {
  "": { list: () => <OverviewPage /> },
  installations: { list: () => <InstallationsPage />, detail: (id) => <InstallationPage id={id} /> },
  keys: { list: (place) => <ApiKeysPage place={place} /> },
  endpoints: {
    list: (place) => <EndpointsPage place={place} />,
    detail: (id, place) => <EndpointPage id={id} place={place} />,
  },
  deliveries: { detail: (id) => <DeliveryPage id={id} /> },
  orders: { list: (place) => <OrdersPage place={place} />, detail: (id) => <OrderPage id={id} /> },
  carts: { list: (place) => <CartsPage place={place} />, detail: (id) => <CartPage id={id} /> },
  requests: {
    list: (place) => <ApiRequestsPage place={place} />,
    detail: (id) => <ApiRequestPage id={id} />,
  },
  search: { list: (place) => <ConsoleSearchPage place={place} hasPage={hasPage} /> },
  reports,
  exports,
  branding: { list: () => <BrandingPage /> },
  payments: { list: () => <PaymentsPage /> },
  taxes: { list: () => <TaxesPage /> },
  staff: { list: () => <StaffPage /> },
  audit: { list: (place) => <AuditPage place={place} /> },
};

/** Returns whether the console has a page at a path below /console, for example `/carts/cart_…` or `/staff`. */
function hasPage(path: string): boolean {
  const [, part = "", id] = (path.split("?")[0] ?? "").split("/");
  const page = consolePages[part];
  return (id === undefined ? page?.list : page?.detail) !== undefined;
}

/** The role of the staff member who is signed in. */
export type ConsoleRole = "admin" | "analyst";

/**
 * The pages that each staff role may open, by the first part of the path below /console. An analyst starts at
 * the reports, and can also create exports and see the branding.
 */
export const pagesOfRole: Readonly<Record<ConsoleRole, Readonly<Record<string, ConsolePageDefinition>>>> = {
  admin: consolePages,
  analyst: { "": reports, reports, exports, branding: { list: () => <BrandingPage isReadOnly /> } },
};

export interface NavigationLink {
  readonly to: string;
  readonly name: string;
  /** The SVG path of the navigation link's icon. The icon is 24 × 24 units large and is drawn with lines. */
  readonly icon: string;
  /**
   * The first parts of the paths below /console to which this navigation link belongs, for example `orders`.
   * While one of these pages is open, the navigation marks the link as the current one.
   */
  readonly pages: readonly string[];
}

export const navigationLinks: readonly NavigationLink[] = [
  { to: "", name: "Overview", icon: "M4 12 12 4l8 8M6 10v10h12V10", pages: [""] },
  {
    to: "/orders",
    name: "Orders",
    icon: "M4 7.5 12 3l8 4.5v9L12 21l-8-4.5zM4 7.5l8 4.5 8-4.5M12 12v9",
    pages: ["orders"],
  },
  {
    to: "/carts",
    name: "Carts",
    icon: "M3 4h2.5l2.5 11h10l2.5-8H7M9.5 19a1 1 0 1 0 .01 0M16.5 19a1 1 0 1 0 .01 0",
    pages: ["carts"],
  },
  {
    to: "/reports",
    name: "Reports",
    icon: "M4 4v16h16M8 16v-5M12.5 16V8M17 16v-9",
    pages: ["reports"],
  },
  {
    to: "/exports",
    name: "Exports",
    icon: "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M4 20h16",
    pages: ["exports"],
  },
  {
    to: "/installations",
    name: "Installations",
    icon: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM16.5 13v7M13 16.5h7",
    pages: ["installations"],
  },
  {
    to: "/keys",
    name: "API keys",
    icon: "M8 12a4 4 0 1 0 0 .01M12 12h9M18 12v4M21 12v3",
    pages: ["keys"],
  },
  {
    to: "/requests",
    name: "Requests",
    icon: "M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4",
    pages: ["requests"],
  },
  {
    to: "/endpoints",
    name: "Webhooks",
    icon: "M12 4v4M12 16v4M4 12h4M16 12h4M12 8a4 4 0 1 0 .01 0",
    pages: ["endpoints", "deliveries"],
  },
  { to: "/payments", name: "Payments", icon: "M3 6h18v12H3zM3 10h18M6.5 14.5h4", pages: ["payments"] },
  {
    to: "/taxes",
    name: "Taxes",
    icon: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 13l6-6M9.5 7.5v.01M14.5 12.5v.01",
    pages: ["taxes"],
  },
  {
    to: "/branding",
    name: "Branding",
    icon: "M12 4a8 8 0 1 0 0 16c1.5 0 2-1 1.5-2s0-2.5 1.5-2.5h2.5A2.5 2.5 0 0 0 20 13c0-5-3.5-9-8-9zM8.5 11v.01M12 8v.01M15.5 11v.01",
    pages: ["branding"],
  },
  {
    to: "/staff",
    name: "Staff",
    icon: "M9 4.5a3.5 3.5 0 1 0 .01 0M3 20c0-4 2.5-6 6-6s6 2 6 6M15.5 5.5a3 3 0 0 1 0 5.5M17.5 14.5c2.2.6 3.5 2.3 3.5 5.5",
    pages: ["staff"],
  },
  {
    to: "/audit",
    name: "Audit log",
    icon: "M6 3h9l4 4v14H6zM15 3v4h4M9 11h7M9 14.5h7M9 18h4",
    pages: ["audit"],
  },
];
