// Shows the definition of a term next to it: on hover, on focus and on touch. Without this script, the term is a link
// to the glossary.

/** Makes every `a.def` and every header button with a term show its definition. */
export function showDefinitions(root: HTMLElement): void {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let shownFor: HTMLElement | undefined;

  const hide = (): void => {
    tip.hidden = true;
    shownFor = undefined;
  };
  const show = (term: HTMLElement): void => {
    const definition = definitionOf(term);
    if (!definition) return;
    shownFor = term;
    tip.textContent = definition.textContent;
    tip.hidden = false;
    placeNear(term, tip);
  };
  const termOf = (event: Event): HTMLElement | null =>
    event.target instanceof Element ? event.target.closest<HTMLElement>("a.def, button[data-def]") : null;

  for (const term of root.querySelectorAll<HTMLElement>("a.def, button[data-def]")) {
    const definition = definitionOf(term);
    if (definition) term.setAttribute("aria-describedby", definition.id);
  }
  root.addEventListener("pointerover", (event) => {
    const term = termOf(event);
    if (term && event.pointerType === "mouse") show(term);
  });
  root.addEventListener("pointerout", (event) => {
    if (event.pointerType === "mouse" && termOf(event) && document.activeElement !== shownFor) hide();
  });
  root.addEventListener("focusin", (event) => {
    const term = termOf(event);
    if (term) show(term);
    else hide();
  });
  root.addEventListener("focusout", hide);
  root.addEventListener("click", (event) => {
    const term = termOf(event);
    // A term is a link to the glossary. The link is not followed if the definition is shown next to the term.
    if (term instanceof HTMLAnchorElement && definitionOf(term)) {
      event.preventDefault();
      show(term);
    } else if (!term) {
      hide();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  // Focus may scroll the term into view.
  const follow = (): void => {
    if (shownFor) placeNear(shownFor, tip);
  };
  addEventListener("scroll", follow, { passive: true, capture: true });
}

function definitionOf(term: HTMLElement): HTMLElement | null {
  const id = term instanceof HTMLAnchorElement ? term.hash.slice(1) : term.dataset["def"];
  return id ? document.getElementById(id) : null;
}

/** The position below the term, or above it if there is no space below. It is always inside the window. */
function placeNear(term: HTMLElement, tip: HTMLElement): void {
  const at = term.getBoundingClientRect();
  const size = tip.getBoundingClientRect();
  const edge = 8;
  const left = Math.min(Math.max(at.left, edge), Math.max(innerWidth - size.width - edge, edge));
  const below = at.bottom + 6;
  const top = below + size.height < innerHeight ? below : Math.max(at.top - size.height - 6, edge);
  tip.style.setProperty("left", `${left}px`);
  tip.style.setProperty("top", `${top}px`);
}
