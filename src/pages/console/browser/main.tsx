/** Starts the console in the page that the service made for whoever is signed in. */
import { render } from "preact";
import { App } from "./app.tsx";
import "./console.css";

const place = document.getElementById("app");
if (place !== null) {
  const { merchantName = "", staffName = "", staffEmail = "" } = place.dataset;
  render(<App person={{ merchantName, staffName, staffEmail }} />, place);
}
