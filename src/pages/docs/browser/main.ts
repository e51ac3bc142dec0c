/** What the documentation does beyond its HTML: finds operations, copies examples, and tries an operation in the page. */
import "./docs.css";
import { addCopyButtons } from "./copy.ts";
import { addFilter } from "./filter.ts";
import { showCurrent } from "./current.ts";
import { addTryForm } from "./try.ts";

addFilter();
showCurrent();
addCopyButtons();
addTryForm();
