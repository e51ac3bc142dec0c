/** What the documentation does beyond its HTML: finds operations, copies examples, and tries an operation in the page. */
import "./docs.css";
import { addCopyButtons } from "#browser/docs/copy.ts";
import { addFilter } from "#browser/docs/filter.ts";
import { showCurrent } from "#browser/docs/current.ts";
import { addTryForm } from "#browser/docs/try.ts";

addFilter();
showCurrent();
addCopyButtons();
addTryForm();
