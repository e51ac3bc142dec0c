/**
 * Starts the console in the browser. The HTML that the server has rendered contains the names of the merchant
 * and of the signed-in staff member.
 */
import { render } from "preact";
import { ConsoleApp } from "./app.tsx";
import "#pages/shared/browser/components.css";
import "./frame.css";
import "./content.css";
import "./narrow.css";
import "./search/search.css";

const place = document.getElementById("app");
if (place !== null) {
  const { merchantName = "", staffName = "", staffEmail = "", staffRole } = place.dataset;
  const role = staffRole === "analyst" ? "analyst" : "admin";
  render(<ConsoleApp person={{ merchantName, staffName, staffEmail, role }} />, place);
}
