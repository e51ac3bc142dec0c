/** Starts the console. The page that the service rendered names the merchant and the signed-in person. */
import { render } from "preact";
import { ConsoleApp } from "./app.tsx";
import "./frame.css";
import "./content.css";
import "./narrow.css";

const place = document.getElementById("app");
if (place !== null) {
  const { merchantName = "", staffName = "", staffEmail = "" } = place.dataset;
  render(<ConsoleApp person={{ merchantName, staffName, staffEmail }} />, place);
}
