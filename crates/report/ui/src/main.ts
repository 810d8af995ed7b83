// Entry point of the script; the page names its kind.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { parseCapacity, parseComparison, parseEvents, parseModel, parseWhatIf } from "./model";
import { capacityPage } from "./pages/capacity";
import { comparisonPage } from "./pages/comparison";
import { eventsPage } from "./pages/events";
import { livePage } from "./pages/live";
import { runPage } from "./pages/run";
import { whatIfPage } from "./pages/what_if";

const { page, events } = document.body.dataset;
const model = (): string => document.getElementById("model")?.textContent ?? "";
if (page === "run") runPage(document.body, parseModel(model()));
else if (page === "comparison") comparisonPage(document.body, parseComparison(model()));
else if (page === "capacity") capacityPage(document.body, parseCapacity(model()));
else if (page === "what-if") whatIfPage(document.body, parseWhatIf(model()));
else if (page === "gc" || page === "logs") eventsPage(document.body, parseEvents(model()));
else if (page === "live" && events) livePage(document.body, events);
